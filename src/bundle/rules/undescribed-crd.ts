import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

export const undescribedCrd = defineRule<{ crd: string }, OfBundle>({
  id: 'undescribed-crd',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'CRDs are described',
  say: ({ crd }) => ({
    what: `the CRD ${crd} has no description`,
    why: 'Consoles show an empty line where people choose what to create.',
    fix: 'Write a description.',
  }),
  *find({ csv }) {
    for (const list of ['owned', 'required'])
      for (const [index, entry] of listOf(at(csv.data, 'spec', 'customresourcedefinitions', list)).entries())
        if (textOf(at(entry, 'description')) === '')
          yield {
            path: ['spec', 'customresourcedefinitions', list, index],
            data: { crd: textOf(at(entry, 'name')) },
          }
  },
})
