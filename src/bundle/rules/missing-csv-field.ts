import { bundleRule } from '../bundle-rule.ts'
import { at } from '../fields.ts'

export const missingCsvField = bundleRule<{ field: string }>({
  id: 'missing-csv-field',
  severity: 'warning',
  title: 'A ClusterServiceVersion has the fields that its API demands',
  say: ({ field }) => ({
    what: `the ClusterServiceVersion has no ${field}`,
    why: 'Its CustomResourceDefinition demands the field: a cluster refuses the object.',
    fix: 'Write the field.',
  }),
  *find({ csv }) {
    for (const path of [['displayName'], ['install'], ['install', 'strategy']] as const) {
      const value = at(csv.data, 'spec', ...path)
      // Without install, what is in it is not missed as well.
      if (path.length > 1 && at(csv.data, 'spec', 'install') === undefined) continue
      if (value === undefined || value === '')
        yield { path: ['spec'], data: { field: `spec.${path.join('.')}` } }
    }
  },
})
