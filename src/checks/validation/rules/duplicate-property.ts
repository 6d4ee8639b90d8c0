// A bundle has the same property and value twice. opm checks only olm.package.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

/** The catalog stores only a summary of the first two, which cannot prove equality. Each type has separate rules. */
const duplicateCheckExemptPropertyTypes = new Set(['olm.csv.metadata', 'olm.bundle.object', 'olm.package'])

export const duplicateProperty = defineRule<{ bundle: string; type: string }, CatalogRuleSignature>({
  id: 'duplicate-property',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle declares each property only once',
  format: ({ bundle, type }) => ({
    what: `${bundle} has the same ${type} property twice`,
    why: 'Duplicate properties add noise for the resolver and usually result from a manual merge.',
    fix: 'Remove one of them.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const seen = new Set<string>()
      for (const { type, value, mark } of bundle.blob.properties) {
        if (duplicateCheckExemptPropertyTypes.has(type)) continue
        const key = `${type} ${JSON.stringify(value)}`
        if (seen.has(key))
          yield {
            at: toFindingLocation(bundle.blob.place, mark),
            about: [its.name, bundle.blob.name, key],
            data: { bundle: bundle.blob.name, type },
          }
        seen.add(key)
      }
    }
  },
})
