import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const brokenWebhook = defineRule<{ webhook: string; problem: string }, BundleRuleSignature>({
  id: 'broken-webhook',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Webhooks reference deployments and CRDs that are in the bundle',
  format: ({ webhook, problem }) => ({
    what: `the webhook "${webhook}" ${problem}`,
    why: "OLM doesn't install the webhook, and the ClusterServiceVersion fails.",
    fix: 'Reference a deployment in the install strategy and CRDs that the bundle owns.',
  }),
  *find({ csv }) {
    const spec = (...path: string[]) => asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', ...path))
    const deployments = spec('install', 'spec', 'deployments').map((entry) =>
      getJsonFieldAtPath(entry, 'name'),
    )
    const owned = spec('customresourcedefinitions', 'owned').map((entry) => getJsonFieldAtPath(entry, 'name'))
    for (const [index, entry] of spec('webhookdefinitions').entries()) {
      const webhook = asStringOrEmpty(getJsonFieldAtPath(entry, 'generateName'))
      const deployment = asStringOrEmpty(getJsonFieldAtPath(entry, 'deploymentName'))
      const path = ['spec', 'webhookdefinitions', index]
      if (!deployments.includes(deployment))
        yield {
          path,
          data: {
            webhook,
            problem: `references the deployment "${deployment}", which is not in the install strategy`,
          },
        }
      for (const crd of asListOrEmpty(getJsonFieldAtPath(entry, 'conversionCRDs')))
        if (!owned.includes(crd))
          yield {
            path,
            data: { webhook, problem: `converts ${asStringOrEmpty(crd)}, which the bundle does not own` },
          }
    }
  },
})
