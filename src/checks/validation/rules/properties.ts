import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const untypedProperty = defineRule<{ bundle: string; type: string }, CatalogRuleSignature>({
  id: 'untyped-property',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Every property has a type',
  format: ({ bundle, type }) => ({
    what:
      type === ''
        ? `a property of ${bundle} has no type`
        : `a property of ${bundle} has a type with leading or trailing whitespace: "${type}"`,
    why: 'OLM looks up properties by their exact type, so it never finds this property.',
    fix: 'Set the exact type, such as olm.gvk.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      for (const [index, { type, mark }] of bundle.blob.properties.entries()) {
        if (type !== '' && type.trim() === type) continue
        yield {
          at: toFindingLocation(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, type, String(index)],
          data: { bundle: bundle.blob.name, type },
        }
      }
    }
  },
})
