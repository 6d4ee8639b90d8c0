import { bundleRule } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const noMinKubeVersion = bundleRule<Record<never, never>>({
  id: 'no-min-kube-version',
  suite: 'operatorhub',
  severity: 'info',
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
