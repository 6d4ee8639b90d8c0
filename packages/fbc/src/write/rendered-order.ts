// Reorders the bundles of a catalog as `opm render` does before it writes them: large properties last, and related
// images by reference. opm does not do this for templates.
import { compareBytes } from '../go/text.ts'
import type { WritableBundle, WritableCatalog } from './writable-catalog.ts'

const bundleMetadataPropertyTypes: ReadonlySet<string> = new Set(['olm.bundle.object', 'olm.csv.metadata'])

/**
 * Returns the catalog with its bundles in that order. Related images with the same reference keep their order. opm
 * shuffles them if more than a dozen images are unsorted.
 */
export function sortCatalogForRendering(catalog: WritableCatalog): WritableCatalog {
  return { ...catalog, bundles: catalog.bundles.map(sortBundleForRendering) }
}

function sortBundleForRendering(bundle: WritableBundle): WritableBundle {
  const { properties, relatedImages } = bundle
  return {
    ...bundle,
    ...(properties && {
      properties: [
        ...properties.filter(({ type }) => !bundleMetadataPropertyTypes.has(type)),
        ...properties.filter(({ type }) => bundleMetadataPropertyTypes.has(type)),
      ],
    }),
    ...(relatedImages && { relatedImages: relatedImages.toSorted((a, b) => compareBytes(a.image, b.image)) }),
  }
}
