import { defineRule } from '../../../findings/rule.ts'

export const removedBundleInUse = defineRule<{ name: string; by: readonly string[] }>({
  id: 'removed-bundle-in-use',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A bundle is removed when nothing names it any more',
  say: ({ name, by }) => ({
    what: `${name} is removed, and still named by ${by.slice(0, 3).join(', ')}${by.length > 3 ? ` and ${by.length - 3} more` : ''}`,
    why: 'What names it breaks, or cannot be rebuilt.',
    fix: 'Take it out of these first, in a pull request before this one.',
  }),
})
