import { renderPlain } from '../../bundle/plain/render-plain.ts'
import { oncePer } from '../../findings/once.ts'
import type { BundleFiles } from '../../bundle/bundle-files.ts'

/** Rendered once per bundle, for an ordinary namespace and OLM v1's default watch scope. */
export const renderedBundle = oncePer((files: BundleFiles) =>
  renderPlain(files, { installNamespace: 'operators' }),
)
