import { defineRule } from '../../../findings/rule.ts'

export const bundleDirectoryNameTaken = defineRule<{ name: string; other: string; hasTemplates: boolean }>({
  id: 'bundle-directory-name-taken',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every bundle of a package has a name of its own',
  format: ({ name, other, hasTemplates }) => ({
    // Catalogs name the image of one of them, and are judged where they change.
    ...(hasTemplates && { severity: 'warning' as const }),
    what: `${name} is also the name of the bundle in ${other}`,
    why: 'A catalog has one bundle of a name: one of the two cannot be released.',
    fix: 'Rename the ClusterServiceVersion for its version.',
  }),
})
