import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from '../fields.ts'

export const undescribedCrd = defineRule<{ crd: string }, BundleRuleSignature>({
  id: 'undescribed-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'CRDs have a description',
  format: ({ crd }) => ({
    what: `the CRD ${crd} has no description`,
    why: 'Consoles show an empty line instead of a description when users choose what to create.',
    fix: 'Add a description.',
  }),
  *find({ csv }) {
    for (const list of ['owned', 'required'])
      for (const [index, entry] of asListOrEmpty(
        getJsonFieldAtPath(csv.data, 'spec', 'customresourcedefinitions', list),
      ).entries())
        if (asStringOrEmpty(getJsonFieldAtPath(entry, 'description')) === '')
          yield {
            path: ['spec', 'customresourcedefinitions', list, index],
            data: { crd: asStringOrEmpty(getJsonFieldAtPath(entry, 'name')) },
          }
  },
})
