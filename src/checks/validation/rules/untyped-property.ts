import { defineRule } from '../../../findings/rule.ts'
import { placeOf, type OfCatalog } from '../catalog-rule.ts'
import { bundlesOf } from '../requirements.ts'

export const untypedProperty = defineRule<{ bundle: string; type: string }, OfCatalog>({
  id: 'untyped-property',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'Every property has a type',
  say: ({ bundle, type }) => ({
    what:
      type === ''
        ? `a property of ${bundle} has no type`
        : `a property of ${bundle} has a type with blanks around it: "${type}"`,
    why: 'Properties are found by their type, letter by letter, so this one is never found.',
    fix: 'Give the type as it is defined, such as olm.gvk.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of bundlesOf(catalog)) {
      for (const [index, { type, mark }] of bundle.blob.properties.entries()) {
        if (type !== '' && type.trim() === type) continue
        yield {
          at: placeOf(bundle.blob.place, mark),
          about: [its.name, bundle.blob.name, type, String(index)],
          data: { bundle: bundle.blob.name, type },
        }
      }
    }
  },
})
