import { defineRule } from '../../../findings/rule.ts'

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
  title: 'A bundle belongs to the package in whose directory it lies',
  format: ({ directory, package: its, known }) => ({
    what: `the bundle belongs to the package "${its}", and lies in the directory of ${known.map((name) => `"${name}"`).join(', ') || `"${directory}"`}`,
    why: 'It would be released into a package whose owners have not been asked.',
    fix: 'Correct the package in the annotations, or move the bundle into the directory of its package.',
  }),
})
