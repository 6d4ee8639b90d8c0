import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at } from '../fields.ts'

export const noDeployment = defineRule<Record<never, never>, OfBundle>({
  id: 'no-deployment',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'A bundle installs something',
  say: () => ({
    what: 'the ClusterServiceVersion has no deployments',
    why: 'It installs no Operator.',
    fix: 'Describe the deployment in spec.install.spec.deployments.',
  }),
  *find({ csv }) {
    if ((at(csv.data, 'spec', 'install', 'spec', 'deployments') ?? null) === null)
      yield { path: ['spec', 'install'], data: {} }
  },
})
