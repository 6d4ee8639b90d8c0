import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleTypes } from '../bundle-rule.ts'
import { getField, asList, asString, getPodFieldPath } from '../fields.ts'

export const unknownServiceAccount = defineRule<{ deployment: string; account: string }, BundleRuleTypes>({
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
    const install = (list: string) => asList(getField(csv.data, 'spec', 'install', 'spec', list))
    const created = new Set([
      '',
      'default',
      ...['permissions', 'clusterPermissions'].flatMap((list) =>
        install(list).map((entry) => asString(getField(entry, 'serviceAccountName'))),
      ),
      ...objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name),
    ])
    for (const [index, entry] of install('deployments').entries()) {
      const account = asString(getField(entry, 'spec', 'template', 'spec', 'serviceAccountName'))
      if (!created.has(account))
        yield {
          path: getPodFieldPath(index, 'serviceAccountName'),
          data: { deployment: asString(getField(entry, 'name')), account },
        }
    }
  },
})
