import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath } from '../fields.ts'

export const noDeployment = defineRule<Record<never, never>, BundleRuleSignature>({
  id: 'no-deployment',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'A bundle has a deployment',
  format: () => ({
    what: 'the ClusterServiceVersion has no deployments',
    why: "The bundle doesn't install an Operator.",
    fix: 'Define the deployment in spec.install.spec.deployments.',
  }),
  *find({ csv }) {
    if ((getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', 'deployments') ?? null) === null)
      yield { path: ['spec', 'install'], data: {} }
  },
})
