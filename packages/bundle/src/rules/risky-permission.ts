import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

const defaultSccNames = [
  'privileged',
  'restricted',
  'anyuid',
  'hostaccess',
  'hostmount-anyuid',
  'hostnetwork',
  'node-exporter',
  'nonroot',
]
export const riskyPermission = defineRule<{ name: string; what: string }, BundleRuleSignature>({
  id: 'risky-permission',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'objects',
  title: "Roles don't allow changes to cluster-wide safeguards",
  format: ({ name, what }) => ({
    what: `the role ${name} can change ${what}`,
    why: 'These changes can affect pods of other applications.',
    fix: 'Remove the permission.',
  }),
  *find({ objects }) {
    for (const object of objects) {
      const { file, kind, name } = object
      if (kind !== 'Role' && kind !== 'ClusterRole') continue
      for (const [index, rule] of asListOrEmpty(getJsonFieldAtPath(object.data, 'rules')).entries()) {
        const ruleIncludes = (field: string, wanted: readonly string[]) =>
          asListOrEmpty(getJsonFieldAtPath(rule, field)).some((entry) =>
            wanted.includes(asStringOrEmpty(entry)),
          )
        const hit = (permission: string) => ({
          file,
          path: ['rules', index],
          data: { name, what: permission },
        })
        if (
          ruleIncludes('apiGroups', ['policy']) &&
          ruleIncludes('resources', ['poddisruptionbudgets']) &&
          ruleIncludes('verbs', ['*', 'create', 'update', 'patch'])
        )
          yield hit('disruption budgets')
        if (
          ruleIncludes('apiGroups', ['security.openshift.io']) &&
          ruleIncludes('resources', ['securitycontextconstraints']) &&
          ruleIncludes('verbs', ['*', 'delete', 'update', 'patch']) &&
          ruleIncludes('resourceNames', defaultSccNames)
        )
          yield hit('the default security context constraints')
      }
    }
  },
})
