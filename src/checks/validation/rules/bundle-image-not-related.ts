// A bundle whose own image is missing from its related images. Rendering adds the image, and mirroring relies on it.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const bundleImageNotRelated = defineRule<{ bundle: string; image: string }, CatalogRuleSignature>({
  id: 'bundle-image-not-related',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: "A bundle's related images include its own image",
  format: ({ bundle, image }) => ({
    what: `the related images of ${bundle} do not include its own image, ${image}`,
    why: 'Mirroring tools copy only the related images, so users cannot install the bundle from a mirror.',
    fix: 'Add the image to relatedImages, or render the bundle again.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const { name, image, relatedImages, place, imageMark } = bundle.blob
      if (image === '' || relatedImages.some((related) => related.image === image)) continue
      yield {
        at: toFindingLocation(place, imageMark),
        about: [its.name, name],
        data: { bundle: name, image },
      }
    }
  },
})
