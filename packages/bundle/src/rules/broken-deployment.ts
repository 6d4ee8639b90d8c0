import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const brokenDeployment = defineRule<{ deployment: string; problem: string }, BundleRuleSignature>({
  id: 'broken-deployment',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Deployments have valid, unique names',
  format: ({ deployment, problem }) => ({
    what: `the deployment "${deployment}" ${problem}`,
    why: "OLM can't run the install strategy.",
    fix: 'Give each deployment a unique DNS name.',
  }),
  *find({ csv }) {
    const names = asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', 'deployments')).map(
      (entry) => asStringOrEmpty(getJsonFieldAtPath(entry, 'name')),
    )
    for (const [index, deployment] of names.entries()) {
      const path = ['spec', 'install', 'spec', 'deployments', index, 'name']
      if (!/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(deployment))
        yield { path, data: { deployment, problem: 'does not have a valid DNS name' } }
      else if (names.indexOf(deployment) !== index)
        yield { path, data: { deployment, problem: 'is listed twice' } }
    }
  },
})
