import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'

export const unknownCsvVersion = defineRule<{ apiVersion: string }, BundleRuleSearch>({
  id: 'unknown-csv-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A ClusterServiceVersion is of the version that OLM knows',
  format: ({ apiVersion }) => ({
    what: `the ClusterServiceVersion is of the version "${apiVersion}", not operators.coreos.com/v1alpha1`,
    why: 'OLM cannot unpack the bundle, and says so in no condition but ErrorPreventedUnpacking.',
    fix: 'Write apiVersion: operators.coreos.com/v1alpha1.',
  }),
  *find({ csv: { apiVersion } }) {
    if (apiVersion !== 'operators.coreos.com/v1alpha1') yield { path: ['apiVersion'], data: { apiVersion } }
  },
})
