import { bundleRule } from '../bundle-rule.ts'
import { at, listOf, textOf } from '../fields.ts'

export const undescribedCrd = bundleRule<{ crd: string }>({
  id: 'undescribed-crd',
  suite: 'good-practices',
  severity: 'warning',
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
