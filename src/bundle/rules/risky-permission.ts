import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

const defaultConstraints = [
  'privileged',
  'restricted',
  'anyuid',
  'hostaccess',
  'hostmount-anyuid',
  'hostnetwork',
  'node-exporter',
  'nonroot',
]
export const riskyPermission = defineRule<{ name: string; what: string }, OfBundle>({
  id: 'risky-permission',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'objects',
  title: 'Roles of a bundle leave cluster-wide safeguards alone',
  say: ({ name, what }) => ({
    what: `the role ${name} may change ${what}`,
    why: 'It endangers pods that are not its own.',
    fix: 'Take the permission out.',
  }),
  *find({ objects }) {
    for (const object of objects) {
      const { file, kind, name } = object
      if (kind !== 'Role' && kind !== 'ClusterRole') continue
      for (const [index, rule] of listOf(at(object.data, 'rules')).entries()) {
        const has = (field: string, wanted: readonly string[]) =>
          listOf(at(rule, field)).some((entry) => wanted.includes(textOf(entry)))
        const hit = (what: string) => ({ file, path: ['rules', index], data: { name, what } })
        if (
          has('apiGroups', ['policy']) &&
          has('resources', ['poddisruptionbudgets']) &&
          has('verbs', ['*', 'create', 'update', 'patch'])
        )
          yield hit('disruption budgets')
        if (
          has('apiGroups', ['security.openshift.io']) &&
          has('resources', ['securitycontextconstraints']) &&
          has('verbs', ['*', 'delete', 'update', 'patch']) &&
          has('resourceNames', defaultConstraints)
        )
          yield hit('the default security context constraints')
      }
    }
  },
})
