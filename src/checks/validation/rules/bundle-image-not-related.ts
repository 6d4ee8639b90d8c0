// A bundle whose own image is missing from its related images. Rendering adds it; mirroring relies on it.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { listBundles } from '../requirements.ts'

export const bundleImageNotRelated = defineRule<{ bundle: string; image: string }, CatalogRuleKind>({
  id: 'bundle-image-not-related',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: "A bundle's image is one of its related images",
  format: ({ bundle, image }) => ({
    what: `the related images of ${bundle} do not name its own image, ${image}`,
    why: 'Tools that mirror a catalog copy the related images; without the bundle itself the copy cannot be installed.',
    fix: 'Add it to relatedImages, or render the bundle again.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      const { name, image, relatedImages, place, imageMark } = bundle.blob
      if (image === '' || relatedImages.some((related) => related.image === image)) continue
      yield { at: toLocation(place, imageMark), about: [its.name, name], data: { bundle: name, image } }
    }
  },
})
