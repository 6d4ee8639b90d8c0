import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'

export const unknownCsvVersion = defineRule<{ apiVersion: string }, BundleRuleSignature>({
  id: 'unknown-csv-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A ClusterServiceVersion uses an API version that OLM supports',
  format: ({ apiVersion }) => ({
    what: `the apiVersion of the ClusterServiceVersion is "${apiVersion}", not operators.coreos.com/v1alpha1`,
    why: "OLM can't unpack the bundle and reports this only in the ErrorPreventedUnpacking condition.",
    fix: 'Set apiVersion to operators.coreos.com/v1alpha1.',
  }),
  *find({ csv: { apiVersion } }) {
    if (apiVersion !== 'operators.coreos.com/v1alpha1') yield { path: ['apiVersion'], data: { apiVersion } }
  },
})
