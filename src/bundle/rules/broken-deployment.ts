import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField, asList, asString } from '../fields.ts'

export const brokenDeployment = defineRule<{ deployment: string; problem: string }, BundleRuleSearch>({
  id: 'broken-deployment',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Deployments of a bundle have names of their own',
  format: ({ deployment, problem }) => ({
    what: `the deployment "${deployment}" ${problem}`,
    why: 'The install strategy fails.',
    fix: 'Give every deployment its own DNS name.',
  }),
  *find({ csv }) {
    const names = asList(getField(csv.data, 'spec', 'install', 'spec', 'deployments')).map((entry) =>
      asString(getField(entry, 'name')),
    )
    for (const [index, deployment] of names.entries()) {
      const path = ['spec', 'install', 'spec', 'deployments', index, 'name']
      if (!/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(deployment))
        yield { path, data: { deployment, problem: 'has no valid DNS name' } }
      else if (names.indexOf(deployment) !== index)
        yield { path, data: { deployment, problem: 'is there twice' } }
    }
  },
})
