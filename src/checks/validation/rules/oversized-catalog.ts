import { defineRule } from '../../../findings/rule.ts'
import type { CatalogRuleKind } from '../catalog-rule.ts'
import { formatBytes } from '../format-names.ts'

export const oversizedCatalog = defineRule<
  { bytes: number; limit: number; packages: number },
  CatalogRuleKind
>({
  id: 'oversized-catalog',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A catalog stays below the ceiling for catalogs',
  format: ({ bytes, limit, packages }) => ({
    what: `the catalog has ${formatBytes(bytes)} in ${packages} packages, more than ${formatBytes(limit)}`,
    why: 'The pod that serves it reads all of it when it starts, and clusters give that pod little memory and time.',
    fix: 'Migrate olm.bundle.object to olm.csv.metadata, drop bundles that nobody upgrades from, or split the catalog.',
  }),
  *find({ catalog }, limits) {
    const bytes = catalog.files.reduce((sum, file) => sum + file.bytes, 0)
    if (bytes > limits.catalog)
      yield {
        about: ['', 'catalog'],
        data: { bytes, limit: limits.catalog, packages: catalog.packages.length },
      }
  },
})
