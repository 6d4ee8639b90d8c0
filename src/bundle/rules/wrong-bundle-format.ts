import { defineRule } from '../../findings/rule.ts'

export const wrongBundleFormat = defineRule<{ named: string; found: string }>({
  id: 'wrong-bundle-format',
  check: 'images',
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle is of the format that it names',
  format: ({ named, found }) => ({
    what: `the annotations call the bundle ${named}, but it is ${found}`,
    why: 'Whoever installs it chooses how by that name.',
    fix: 'Correct the mediatype annotation, or the files.',
  }),
})
