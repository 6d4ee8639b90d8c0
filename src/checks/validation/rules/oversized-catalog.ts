import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { formatBytes } from '../format-names.ts'

export const oversizedCatalog = defineRule<
  { bytes: number; limit: number; packages: number },
  CatalogRuleSignature
>({
  id: 'oversized-catalog',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A catalog does not exceed the size limit for catalogs',
  format: ({ bytes, limit, packages }) => ({
    what: `the catalog contains ${formatBytes(bytes)} of data in ${packages} ${packages === 1 ? 'package' : 'packages'}, which exceeds the limit of ${formatBytes(limit)}`,
    why: 'The pod that serves the catalog reads all of it at startup, and clusters give that pod little memory and time.',
    fix: 'Migrate olm.bundle.object to olm.csv.metadata, remove bundles that are no longer in use, or split the catalog.',
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
