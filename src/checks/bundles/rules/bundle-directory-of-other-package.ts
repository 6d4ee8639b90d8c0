import { defineRule } from '@catalog-bot/findings/rule'

export const bundleDirectoryOfOtherPackage = defineRule<{
  directory: string
  package: string
  known: readonly string[]
}>({
  id: 'bundle-directory-of-other-package',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'A bundle is in the directory of its package',
  format: ({ directory, package: its, known }) => ({
    what: `the bundle belongs to the package "${its}" but is in the directory of ${known.map((name) => `"${name}"`).join(', ') || `"${directory}"`}`,
    why: "The bundle would be released into a package whose owners haven't approved it.",
    fix: 'Correct the package in the annotations, or move the bundle to the directory of its package.',
  }),
})
