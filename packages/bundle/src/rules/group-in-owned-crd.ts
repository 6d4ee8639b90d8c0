import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const groupInOwnedCrd = defineRule<{ crd: string; group: string }, BundleRuleSignature>({
  id: 'group-in-owned-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: "Owned CRDs don't set `group`",
  format: ({ crd, group }) => ({
    what: `the owned CRD ${crd} sets group to "${group}"`,
    why: "If this field is set, `opm alpha bundle validate` doesn't find the CRD in the bundle and rejects the bundle.",
    fix: 'Remove the group field. The CRD name already contains the group.',
  }),
  *find({ csv }) {
    const owned = asListOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'customresourcedefinitions', 'owned'))
    for (const [index, entry] of owned.entries()) {
      const group = asStringOrEmpty(getJsonFieldAtPath(entry, 'group'))
      if (group !== '')
        yield {
          path: ['spec', 'customresourcedefinitions', 'owned', index, 'group'],
          data: { crd: asStringOrEmpty(getJsonFieldAtPath(entry, 'name')), group },
        }
    }
  },
})
