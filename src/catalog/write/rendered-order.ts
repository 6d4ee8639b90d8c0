// What `opm render` does to the bundles of a catalog before it writes them: bulky properties last,
// related images by reference. Templates are written without it.
import { compareBytes } from '../../go/text.ts'
import type { WritableBundle, WritableCatalog } from './writable-catalog.ts'

const bulkyPropertyTypes: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata'])

/**
 * The catalog with its bundles in that order. Related images of one reference keep theirs; opm shuffles them where
 * more than a dozen stand in disorder.
 */
export function sortForRendering(catalog: WritableCatalog): WritableCatalog {
  return { ...catalog, bundles: catalog.bundles.map(sortBundleForRendering) }
}

function sortBundleForRendering(bundle: WritableBundle): WritableBundle {
  const { properties, relatedImages } = bundle
  return {
    ...bundle,
    ...(properties && {
      properties: [
        ...properties.filter(({ type }) => !bulkyPropertyTypes.has(type)),
        ...properties.filter(({ type }) => bulkyPropertyTypes.has(type)),
      ],
    }),
    ...(relatedImages && { relatedImages: relatedImages.toSorted((a, b) => compareBytes(a.image, b.image)) }),
  }
}
