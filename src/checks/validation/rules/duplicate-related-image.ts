import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { listBundles } from '../requirements.ts'

export const duplicateRelatedImage = defineRule<{ bundle: string; image: string }, CatalogRuleKind>({
  id: 'duplicate-related-image',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'info',
  since: '0.1.0',
  title: 'Related images are listed once',
  format: ({ bundle, image }) => ({
    what: `${bundle} lists the related image ${image} twice under the same name`,
    why: 'It does no harm; it usually means that the list was put together by hand or from two sources.',
    fix: 'Remove one of the two.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      const seen = new Set<string>()
      for (const { name, image, mark } of bundle.blob.relatedImages) {
        if (image === '') continue
        // Images contain no blanks, so the key is unambiguous.
        const key = `${image} ${name}`
        if (seen.has(key))
          yield {
            at: toLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, name, image],
            data: { bundle: bundle.blob.name, image },
          }
        seen.add(key)
      }
    }
  },
})
