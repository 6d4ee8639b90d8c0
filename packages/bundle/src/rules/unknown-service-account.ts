import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty, getCsvPodSpecFieldPath } from '../fields.ts'

export const unknownServiceAccount = defineRule<{ deployment: string; account: string }, BundleRuleSignature>(
  {
    id: 'unknown-service-account',
    check: 'images',
    overridable: true,
    judges: 'bundle',
    severity: 'warning',
    since: '0.1.0',
    network: true,
    title: 'Deployments use service accounts that exist',
    format: ({ deployment, account }) => ({
      what: `the deployment ${deployment} uses the service account "${account}", which neither OLM nor the bundle creates`,
      why: "OLM creates only the service accounts that are listed in permissions, so the pods can't start.",
      fix: 'Grant permissions to the service account, or add a ServiceAccount to the bundle.',
    }),
    *find({ csv, objects }) {
      const install = (list: string) =>
        asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', list))
      const created = new Set([
        '',
        'default',
        ...['permissions', 'clusterPermissions'].flatMap((list) =>
          install(list).map((entry) => asStringOrEmpty(getJsonFieldAtPath(entry, 'serviceAccountName'))),
        ),
        ...objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name),
      ])
      for (const [index, entry] of install('deployments').entries()) {
        const account = asStringOrEmpty(
          getJsonFieldAtPath(entry, 'spec', 'template', 'spec', 'serviceAccountName'),
        )
        if (!created.has(account))
          yield {
            path: getCsvPodSpecFieldPath(index, 'serviceAccountName'),
            data: { deployment: asStringOrEmpty(getJsonFieldAtPath(entry, 'name')), account },
          }
      }
    },
  },
)
