import { defineRule } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const managesCrds = defineRule<{ account: string }, BundleRuleSignature>({
  id: 'manages-crds',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'Operators leave CRD management to OLM',
  format: ({ account }) => ({
    what: `the service account "${account}" can create or patch CRDs`,
    why: "An Operator that installs other Operators bypasses OLM, so OLM can't upgrade or remove them.",
    fix: 'Declare a dependency on the other Operator instead.',
  }),
  *find({ csv }) {
    for (const list of ['permissions', 'clusterPermissions'])
      for (const [index, entry] of asListOrEmpty(
        getJsonFieldAtPath(csv.data, 'spec', 'install', 'spec', list),
      ).entries())
        for (const [position, rule] of asListOrEmpty(getJsonFieldAtPath(entry, 'rules')).entries())
          if (grantsCrdManagement(rule))
            yield {
              path: ['spec', 'install', 'spec', list, index, 'rules', position],
              data: { account: asStringOrEmpty(getJsonFieldAtPath(entry, 'serviceAccountName')) },
            }
  },
})

function grantsCrdManagement(rule: Json): boolean {
  const has = (field: string, ...wanted: string[]) =>
    asListOrEmpty(getJsonFieldAtPath(rule, field)).some((entry) => wanted.includes(asStringOrEmpty(entry)))
  return (
    has('apiGroups', 'apiextensions.k8s.io') &&
    has('resources', 'customresourcedefinitions', '*', '[*]') &&
    has('verbs', 'create', 'patch', '*', '[*]')
  )
}
