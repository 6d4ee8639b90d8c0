import { defineRule } from '@catalog-bot/findings/rule'

export const bundleDirectoryNameTaken = defineRule<{ name: string; other: string; hasTemplates: boolean }>({
  id: 'bundle-directory-name-taken',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every bundle of a package has a unique name',
  format: ({ name, other, hasTemplates }) => ({
    // The catalogs reference the image of one of them, and catalog changes are checked separately.
    ...(hasTemplates && { severity: 'warning' as const }),
    what: `${name} is also the name of the bundle in ${other}`,
    why: "A catalog can contain only one bundle with this name, so one of the two can't be released.",
    fix: 'Rename the ClusterServiceVersion to match its version.',
  }),
})
