import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField, asList, asString, podFieldPath } from '../fields.ts'

export const unknownServiceAccount = defineRule<{ deployment: string; account: string }, BundleRuleSearch>({
  id: 'unknown-service-account',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Deployments run as accounts that something creates',
  format: ({ deployment, account }) => ({
    what: `the deployment ${deployment} runs as the service account "${account}", which nothing creates`,
    why: 'OLM creates accounts for permissions only; the pods cannot start.',
    fix: 'Give the account permissions, or put a ServiceAccount into the bundle.',
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
          path: podFieldPath(index, 'serviceAccountName'),
          data: { deployment: asString(getField(entry, 'name')), account },
        }
    }
  },
})
