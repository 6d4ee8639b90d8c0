import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField } from '../fields.ts'

export const globalDefaultPriority = defineRule<{ name: string }, BundleRuleSearch>({
  id: 'global-default-priority',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'objects',
  title: 'Bundles do not choose the default priority of a cluster',
  format: ({ name }) => ({
    what: `the PriorityClass ${name} is the default of the whole cluster`,
    why: 'Every pod of others gets it.',
    fix: 'Set globalDefault to false.',
  }),
  *find({ objects }) {
    for (const object of objects)
      if (object.kind === 'PriorityClass' && getField(object.data, 'globalDefault') === true)
        yield { file: object.file, path: ['globalDefault'], data: { name: object.name } }
  },
})
