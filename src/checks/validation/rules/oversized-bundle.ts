import { defineRule } from '../../../findings/rule.ts'
import { placeOf, type OfCatalog } from '../catalog-rule.ts'
import { readableBytes } from '../listed.ts'
import { bundlesOf } from '../requirements.ts'

export const oversizedBundle = defineRule<{ bundle: string; bytes: number; limit: number }, OfCatalog>({
  id: 'oversized-bundle',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle stays below the ceiling for bundles',
  say: ({ bundle, bytes, limit }) => ({
    what: `${bundle} takes ${readableBytes(bytes)} of the catalog, more than ${readableBytes(limit)}`,
    why: 'A bundle is sent to the cluster as one message and becomes objects of the Kubernetes API; both have limits not far above.',
    fix: 'Render with `--migrate-level bundle-object-to-csv-metadata`, and shorten descriptions and examples.',
  }),
  *find(catalog, limits) {
    for (const { package: its, bundle } of bundlesOf(catalog)) {
      const { name, place } = bundle.blob
      const bytes = place.end - place.start
      if (bytes > limits.bundle)
        yield {
          at: placeOf(place),
          about: [its.name, name],
          data: { bundle: name, bytes, limit: limits.bundle },
        }
    }
  },
})
