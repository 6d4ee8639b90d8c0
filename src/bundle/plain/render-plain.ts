// A bundle of any format to the objects that installing it creates. Pure: it knows no cluster, and runs no template.
import type { BundleFiles } from '../bundle-files.ts'
import type { Rendering, RenderOptions } from './rendering.ts'

/**
 * What would be created: registry+v1 by OLM v1's algorithm (operator-controller v1.11), plain+v0 as it stands. A helm+v3
 * bundle gives its CRDs only, and says so in `open`. Never throws, whatever the files are.
 */
export function renderPlain(_files: BundleFiles, _options: RenderOptions): Rendering {
  return { objects: [], refusals: [], findings: [], open: ['not written yet'] }
}
