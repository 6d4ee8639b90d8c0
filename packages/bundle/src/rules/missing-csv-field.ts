import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asObjectOrEmpty } from '../fields.ts'

export const missingCsvField = defineRule<{ field: string }, BundleRuleSignature>({
  id: 'missing-csv-field',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A ClusterServiceVersion has all required fields',
  format: ({ field }) => ({
    what: `the ClusterServiceVersion does not set ${field}`,
    why: 'Its CustomResourceDefinition requires the field, so the API server rejects the object.',
    fix: 'Add the field to the ClusterServiceVersion.',
  }),
  *find({ csv }) {
    for (const path of [['displayName'], ['install'], ['install', 'strategy']] as const) {
      const value = getJsonFieldAtPath(csv.data, 'spec', ...path)
      // If install is missing, don't also report its fields.
      if (path.length > 1 && getJsonFieldAtPath(csv.data, 'spec', 'install') === undefined) continue
      if (value === undefined || value === '')
        yield { path: ['spec'], data: { field: `spec.${path.join('.')}` } }
    }
    const strategy = asObjectOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec'))
    if (Object.keys(strategy).length > 0 && (strategy.deployments ?? null) === null)
      yield { path: ['spec', 'install', 'spec'], data: { field: 'spec.install.spec.deployments' } }
  },
})
