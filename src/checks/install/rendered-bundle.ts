import { renderPlainManifests } from '../../bundle/plain/render-plain.ts'
import { memoizePerObject } from '../../findings/memoize.ts'
import type { BundleFiles } from '../../bundle/bundle-files.ts'

/** Rendered once per bundle, for an ordinary namespace and OLM v1's default watch scope. */
export const getRenderedBundleManifests = memoizePerObject((files: BundleFiles) =>
  renderPlainManifests(files, { installNamespace: 'operators' }),
)
