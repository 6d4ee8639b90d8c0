import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const duplicateRelatedImage = defineRule<{ bundle: string; image: string }, CatalogRuleSignature>({
  id: 'duplicate-related-image',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'info',
  since: '0.1.0',
  title: 'Each related image is listed only once',
  format: ({ bundle, image }) => ({
    what: `${bundle} lists the related image ${image} twice under the same name`,
    why: 'The duplicate is harmless, but it usually means that the list was edited by hand or combined from two sources.',
    fix: 'Remove one of them.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const seen = new Set<string>()
      for (const { name, image, mark } of bundle.blob.relatedImages) {
        if (image === '') continue
        // Images contain no whitespace, so the key is unambiguous.
        const key = `${image} ${name}`
        if (seen.has(key))
          yield {
            at: toFindingLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, name, image],
            data: { bundle: bundle.blob.name, image },
          }
        seen.add(key)
      }
    }
  },
})
