import { bundleRule } from '../bundle-rule.ts'

export const unknownCsvVersion = bundleRule<{ apiVersion: string }>({
  id: 'unknown-csv-version',
  severity: 'error',
  title: 'A ClusterServiceVersion is of the version that OLM knows',
  say: ({ apiVersion }) => ({
    what: `the ClusterServiceVersion is of the version "${apiVersion}", not operators.coreos.com/v1alpha1`,
    why: 'OLM cannot unpack the bundle, and says so in no condition but ErrorPreventedUnpacking.',
    fix: 'Write apiVersion: operators.coreos.com/v1alpha1.',
  }),
  *find({ csv: { apiVersion } }) {
    if (apiVersion !== 'operators.coreos.com/v1alpha1') yield { path: ['apiVersion'], data: { apiVersion } }
  },
})
