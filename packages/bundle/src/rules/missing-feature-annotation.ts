import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath } from '../fields.ts'

const openshiftFeatureNames = [
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
export const missingFeatureAnnotation = defineRule<{ annotation: string }, BundleRuleSignature>({
  id: 'missing-feature-annotation',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'info',
  since: '0.1.0',
  network: true,
  suite: 'openshift',
  title: 'A bundle declares the OpenShift features that it supports',
  format: ({ annotation }) => ({
    what: `the annotation ${annotation} is neither "true" nor "false"`,
    why: 'Certification requires the annotation, and OperatorHub on OpenShift uses it as a filter.',
    fix: 'Set the annotation to "true" or "false".',
  }),
  *find({ csv }) {
    for (const feature of openshiftFeatureNames) {
      const annotation = `features.operators.openshift.io/${feature}`
      const value = getJsonFieldAtPath(csv.data, 'metadata', 'annotations', annotation)
      if (value !== 'true' && value !== 'false')
        yield { path: ['metadata', 'annotations', annotation], data: { annotation } }
    }
  },
})
