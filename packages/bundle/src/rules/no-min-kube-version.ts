import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty } from '../fields.ts'

export const noMinKubeVersion = defineRule<Record<never, never>, BundleRuleSignature>({
  id: 'no-min-kube-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'info',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle declares its minimum Kubernetes version',
  format: () => ({
    what: 'the bundle does not declare a minimum Kubernetes version',
    why: 'OLM installs the bundle even on clusters that are too old for it.',
    fix: 'Set spec.minKubeVersion.',
  }),
  *find({ csv }) {
    if (asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'minKubeVersion')).trim() === '')
      yield { path: ['spec'], data: {} }
  },
})
