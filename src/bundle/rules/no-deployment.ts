import { bundleRule } from '../bundle-rule.ts'
import { at, listOf } from '../fields.ts'

export const noDeployment = bundleRule<Record<never, never>>({
  id: 'no-deployment',
  suite: 'good-practices',
  severity: 'warning',
  title: 'A bundle installs something',
  say: () => ({
    what: 'the ClusterServiceVersion has no deployments',
    why: 'It installs no Operator.',
    fix: 'Describe the deployment in spec.install.spec.deployments.',
  }),
  *find({ csv }) {
    if (listOf(at(csv.data, 'spec', 'install', 'spec', 'deployments')).length === 0)
      yield { path: ['spec', 'install'], data: {} }
  },
})
