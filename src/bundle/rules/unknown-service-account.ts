import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf, podPath } from '../fields.ts'

export const unknownServiceAccount = defineRule<{ deployment: string; account: string }, OfBundle>({
  id: 'unknown-service-account',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Deployments run as accounts that something creates',
  say: ({ deployment, account }) => ({
    what: `the deployment ${deployment} runs as the service account "${account}", which nothing creates`,
    why: 'OLM creates accounts for permissions only; the pods cannot start.',
    fix: 'Give the account permissions, or put a ServiceAccount into the bundle.',
  }),
  *find({ csv, objects }) {
    const install = (list: string) => listOf(at(csv.data, 'spec', 'install', 'spec', list))
    const created = new Set([
      '',
      'default',
      ...['permissions', 'clusterPermissions'].flatMap((list) =>
        install(list).map((entry) => textOf(at(entry, 'serviceAccountName'))),
      ),
      ...objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ name }) => name),
    ])
    for (const [index, entry] of install('deployments').entries()) {
      const account = textOf(at(entry, 'spec', 'template', 'spec', 'serviceAccountName'))
      if (!created.has(account))
        yield {
          path: podPath(index, 'serviceAccountName'),
          data: { deployment: textOf(at(entry, 'name')), account },
        }
    }
  },
})
