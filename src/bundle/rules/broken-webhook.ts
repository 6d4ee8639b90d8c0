import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

export const brokenWebhook = defineRule<{ webhook: string; problem: string }, OfBundle>({
  id: 'broken-webhook',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Webhooks belong to deployments and CRDs of the bundle',
  say: ({ webhook, problem }) => ({
    what: `the webhook "${webhook}" ${problem}`,
    why: 'OLM does not install it, and the ClusterServiceVersion fails.',
    fix: 'Name a deployment of the install strategy and CRDs that the bundle owns.',
  }),
  *find({ csv }) {
    const spec = (...path: string[]) => listOf(at(csv.data, 'spec', ...path))
    const deployments = spec('install', 'spec', 'deployments').map((entry) => at(entry, 'name'))
    const owned = spec('customresourcedefinitions', 'owned').map((entry) => at(entry, 'name'))
    for (const [index, entry] of spec('webhookdefinitions').entries()) {
      const webhook = textOf(at(entry, 'generateName'))
      const deployment = textOf(at(entry, 'deploymentName'))
      const path = ['spec', 'webhookdefinitions', index]
      if (!deployments.includes(deployment))
        yield {
          path,
          data: { webhook, problem: `is served by the deployment "${deployment}", which is not there` },
        }
      for (const crd of listOf(at(entry, 'conversionCRDs')))
        if (!owned.includes(crd))
          yield { path, data: { webhook, problem: `converts ${textOf(crd)}, which the bundle does not own` } }
    }
  },
})
