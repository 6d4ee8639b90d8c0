// A bundle has the same property and value twice. opm checks only olm.package.
import { defineRule } from '../../../findings/rule.ts'
import { toLocation, type CatalogRuleKind } from '../catalog-rule.ts'
import { listBundles } from '../requirements.ts'

/** We keep only a summary of the first two, which cannot prove equality; each has separate rules. */
const summarizedTypes = new Set(['olm.csv.metadata', 'olm.bundle.object', 'olm.package'])

export const duplicateProperty = defineRule<{ bundle: string; type: string }, CatalogRuleKind>({
  id: 'duplicate-property',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle says each property once',
  format: ({ bundle, type }) => ({
    what: `${bundle} has the same property of type ${type} twice`,
    why: 'Repeated properties are noise for the resolver, and usually the sign of a file that was merged by hand.',
    fix: 'Remove one of the two.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundles(catalog)) {
      const seen = new Set<string>()
      for (const { type, value, mark } of bundle.blob.properties) {
        if (summarizedTypes.has(type)) continue
        const key = `${type} ${JSON.stringify(value)}`
        if (seen.has(key))
          yield {
            at: toLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, key],
            data: { bundle: bundle.blob.name, type },
          }
        seen.add(key)
      }
    }
  },
})
