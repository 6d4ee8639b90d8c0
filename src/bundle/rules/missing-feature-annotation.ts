import { bundleRule } from '../bundle-rule.ts'
import { at } from '../fields.ts'

const features = [
  'disconnected',
  'fips-compliant',
  'proxy-aware',
  'cnf',
  'cni',
  'csi',
  'tls-profiles',
  'token-auth-aws',
  'token-auth-azure',
  'token-auth-gcp',
]
export const missingFeatureAnnotation = bundleRule<{ annotation: string }>({
  id: 'missing-feature-annotation',
  suite: 'openshift',
  severity: 'info',
  title: 'A bundle says which features of OpenShift it supports',
  say: ({ annotation }) => ({
    what: `the annotation ${annotation} is neither "true" nor "false"`,
    why: 'Certification asks for it, and OperatorHub on OpenShift filters by it.',
    fix: 'Write "true" or "false".',
  }),
  *find({ csv }) {
    for (const feature of features) {
      const annotation = `features.operators.openshift.io/${feature}`
      const value = at(csv.data, 'metadata', 'annotations', annotation)
      if (value !== 'true' && value !== 'false')
        yield { path: ['metadata', 'annotations', annotation], data: { annotation } }
    }
  },
})
