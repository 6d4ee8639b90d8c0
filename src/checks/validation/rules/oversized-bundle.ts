import { defineRule } from '@catalog-bot/findings/rule'
import { toFindingLocation, type CatalogRuleSignature } from '../catalog-rule.ts'
import { formatBytes } from '../format-names.ts'
import { listBundlesWithPackages } from '../requirements.ts'

export const oversizedBundle = defineRule<
  { bundle: string; bytes: number; limit: number },
  CatalogRuleSignature
>({
  id: 'oversized-bundle',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle does not exceed the size limit for bundles',
  format: ({ bundle, bytes, limit }) => ({
    what: `${bundle} takes up ${formatBytes(bytes)} in the catalog, which exceeds the limit of ${formatBytes(limit)}`,
    why: 'The cluster receives a bundle as one message and stores it as Kubernetes objects. The size limits for both are only slightly higher.',
    fix: 'Render the catalog with `--migrate-level bundle-object-to-csv-metadata`, and shorten descriptions and examples.',
  }),
  *find(catalog, limits) {
    for (const { package: its, bundle } of listBundlesWithPackages(catalog)) {
      const { name, place } = bundle.blob
      const bytes = place.end - place.start
      if (bytes > limits.bundle)
        yield {
          at: toFindingLocation(place),
          about: [its.name, name],
          data: { bundle: name, bytes, limit: limits.bundle },
        }
    }
  },
})
