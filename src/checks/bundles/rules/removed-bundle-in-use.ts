import { defineRule } from '../../../findings/rule.ts'
import { formatNames } from '../../validation/format-names.ts'

export const removedBundleInUse = defineRule<{ name: string; by: readonly string[] }>({
  id: 'removed-bundle-in-use',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle is removed when nothing names it any more',
  format: ({ name, by }) => ({
    what: `${name} is removed, and still named by ${formatNames(by, 3)}`,
    why: 'What names it breaks, or cannot be rebuilt.',
    fix: 'Take it out of these first, in a pull request before this one.',
  }),
})
