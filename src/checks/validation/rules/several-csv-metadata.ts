// More than one olm.csv.metadata in a bundle. `opm validate` accepts it, but `opm serve` rejects the whole package.
import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const severalCsvMetadata = defineRule<{ bundle: string; count: number }, CatalogRuleSignature>({
  id: 'several-csv-metadata',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'A bundle has at most one olm.csv.metadata property',
  format: ({ bundle, count }) => ({
    what: `${bundle} has ${count} properties of type olm.csv.metadata`,
    why: '`opm validate` accepts several of these properties, but the pod that serves the catalog accepts at most one and never starts.',
    fix: 'Keep only the property that belongs to this version.',
  }),
  *find(catalog) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const [first, second, ...more] = bundle.properties('olm.csv.metadata')
      if (first === undefined || second === undefined) continue
      yield {
        at: toFindingLocation(bundle.blob.place, second.mark),
        about: [its.name, bundle.blob.name],
        data: { bundle: bundle.blob.name, count: more.length + 2 },
        related: [{ at: toFindingLocation(bundle.blob.place, first.mark), note: 'the first property' }],
      }
    }
  },
})
