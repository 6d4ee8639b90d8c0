import { defineRule } from '../../findings/rule.ts'
import type { Json } from '../../go/json/json.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

export const managesCrds = defineRule<{ account: string }, OfBundle>({
  id: 'manages-crds',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'Operators leave CRDs to OLM',
  say: ({ account }) => ({
    what: `the service account "${account}" may create CRDs`,
    why: 'Operators that install Operators bypass OLM: nobody upgrades or removes what they brought.',
    fix: 'Depend on the other Operator instead.',
  }),
  *find({ csv }) {
    for (const list of ['permissions', 'clusterPermissions'])
      for (const [index, entry] of listOf(at(csv.data, 'spec', 'install', 'spec', list)).entries())
        for (const [position, rule] of listOf(at(entry, 'rules')).entries())
          if (grants(rule))
            yield {
              path: ['spec', 'install', 'spec', list, index, 'rules', position],
              data: { account: textOf(at(entry, 'serviceAccountName')) },
            }
  },
})

function grants(rule: Json): boolean {
  const has = (field: string, ...wanted: string[]) =>
    listOf(at(rule, field)).some((entry) => wanted.includes(textOf(entry)))
  return (
    has('apiGroups', 'apiextensions.k8s.io') &&
    has('resources', 'customresourcedefinitions', '*', '[*]') &&
    has('verbs', 'create', 'patch', '*', '[*]')
  )
}
