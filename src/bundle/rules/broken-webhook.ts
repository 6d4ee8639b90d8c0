import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField, asList, asString } from '../fields.ts'

export const brokenWebhook = defineRule<{ webhook: string; problem: string }, BundleRuleSearch>({
  id: 'broken-webhook',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Webhooks belong to deployments and CRDs of the bundle',
  format: ({ webhook, problem }) => ({
    what: `the webhook "${webhook}" ${problem}`,
    why: 'OLM does not install it, and the ClusterServiceVersion fails.',
    fix: 'Name a deployment of the install strategy and CRDs that the bundle owns.',
  }),
  *find({ csv }) {
    const spec = (...path: string[]) => asList(getField(csv.data, 'spec', ...path))
    const deployments = spec('install', 'spec', 'deployments').map((entry) => getField(entry, 'name'))
    const owned = spec('customresourcedefinitions', 'owned').map((entry) => getField(entry, 'name'))
    for (const [index, entry] of spec('webhookdefinitions').entries()) {
      const webhook = asString(getField(entry, 'generateName'))
      const deployment = asString(getField(entry, 'deploymentName'))
      const path = ['spec', 'webhookdefinitions', index]
      if (!deployments.includes(deployment))
        yield {
          path,
          data: { webhook, problem: `is served by the deployment "${deployment}", which is not there` },
        }
      for (const crd of asList(getField(entry, 'conversionCRDs')))
        if (!owned.includes(crd))
          yield {
            path,
            data: { webhook, problem: `converts ${asString(crd)}, which the bundle does not own` },
          }
    }
  },
})
