import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const noMinKubeVersion = defineRule<Record<never, never>, OfBundle>({
  id: 'no-min-kube-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'info',
  since: '0.1.0',
  network: true,
  suite: 'operatorhub',
  title: 'A bundle says which Kubernetes it needs',
  say: () => ({
    what: 'the bundle does not say which Kubernetes it needs',
    why: 'OLM installs it on clusters that are too old for it.',
    fix: 'Write spec.minKubeVersion.',
  }),
  *find({ csv }) {
    if (textOf(at(csv.data, 'spec', 'minKubeVersion')).trim() === '') yield { path: ['spec'], data: {} }
  },
})
