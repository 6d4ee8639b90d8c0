import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath } from '../fields.ts'

export const globalDefaultPriority = defineRule<{ name: string }, BundleRuleSignature>({
  id: 'global-default-priority',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  suite: 'objects',
  title: "A bundle doesn't set the cluster's default priority",
  format: ({ name }) => ({
    what: `the PriorityClass ${name} is the default for the whole cluster`,
    why: 'Every pod without a priority class gets this priority, including pods of other applications.',
    fix: 'Set globalDefault to false.',
  }),
  *find({ objects }) {
    for (const object of objects)
      if (object.kind === 'PriorityClass' && getJsonFieldAtPath(object.data, 'globalDefault') === true)
        yield { file: object.file, path: ['globalDefault'], data: { name: object.name } }
  },
})
