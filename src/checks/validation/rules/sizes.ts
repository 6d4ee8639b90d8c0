import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { formatBytes } from '../format-names.ts'

export const oversizedPackage = defineRule<
  { bytes: number; limit: number; bundles: number },
  CatalogRuleSignature
>({
  id: 'oversized-package',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A package does not exceed the size limit for packages',
  format: ({ bytes, limit, bundles }) => ({
    what: `the package contains ${formatBytes(bytes)} of data in ${bundles} ${bundles === 1 ? 'bundle' : 'bundles'}, which exceeds the limit of ${formatBytes(limit)}`,
    why: 'GitHub warns about files larger than 50 MiB and rejects files larger than 100 MiB. Every cluster must also read the whole catalog.',
    fix: 'Remove bundles that are no longer in use, or migrate olm.bundle.object to olm.csv.metadata.',
  }),
  *find(catalog, limits) {
    for (const its of catalog.packages) {
      if (its.blob === undefined) continue
      const blobs = [
        its.blob,
        ...its.channels.map(({ blob }) => blob),
        ...its.bundles.map(({ blob }) => blob),
        ...its.deprecations,
      ]
      const bytes = blobs.reduce((sum, { place }) => sum + place.end - place.start, 0)
      if (bytes > limits.package)
        yield {
          at: toFindingLocation(its.blob.place),
          about: [its.name],
          data: { bytes, limit: limits.package, bundles: its.bundles.length },
        }
    }
  },
})
