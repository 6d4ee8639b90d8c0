// The objects of a bundle, made once however many steps look at them.
import { renderPlain } from '../../bundle/plain/render-plain.ts'
import { oncePer } from '../../findings/once.ts'
import type { BundleFiles } from '../../bundle/bundle-files.ts'

/** In a namespace of an ordinary name, watching what OLM v1 lets it watch unasked. */
export const renderedBundle = oncePer((files: BundleFiles) =>
  renderPlain(files, { installNamespace: 'operators' }),
)
