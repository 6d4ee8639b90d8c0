import { renderPlainManifests } from '@catalog-bot/bundle/plain/render-plain'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'

/** Rendered once per bundle, for an ordinary namespace and OLM v1's default watch scope. */
export const getRenderedBundleManifests = memoizePerObject((files: BundleFiles) =>
  renderPlainManifests(files, { installNamespace: 'operators' }),
)
