import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty } from '../fields.ts'

export const noCsvVersion = defineRule<Record<never, never>, BundleRuleSignature>({
  id: 'no-csv-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle has a version',
  format: () => ({
    what: 'the ClusterServiceVersion has no version',
    why: "OperatorHub.io rejects the bundle, and OLM can't determine the upgrade order.",
    fix: 'Set spec.version.',
  }),
  *find({ csv }) {
    if (['', '0.0.0'].includes(asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'version'))))
      yield { path: ['spec', 'version'], data: {} }
  },
})
