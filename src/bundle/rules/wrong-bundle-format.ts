import type { Rule } from '../../findings/rule.ts'

export const wrongBundleFormat: Rule<{ named: string; found: string }> = {
  id: 'wrong-bundle-format',
  check: 'images',
  severity: 'error',
  title: 'A bundle is of the format that it names',
  say: ({ named, found }) => ({
    what: `the annotations call the bundle ${named}, but it is ${found}`,
    why: 'Whoever installs it chooses how by that name.',
    fix: 'Correct the mediatype annotation, or the files.',
  }),
}
