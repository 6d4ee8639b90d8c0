import { defineRule } from '../../../findings/rule.ts'

export const bundleDirectoryOfOtherVersion = defineRule<{ directory: string; version: string }>({
  id: 'bundle-directory-of-other-version',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle lies in a directory that is named for its version',
  format: ({ directory, version }) => ({
    what: `the directory "${directory}" holds version ${version}`,
    why: 'Releases, tests and reviewers find a version by its directory. Two of them would disagree about what this bundle is.',
    fix: 'Name the directory for spec.version, or correct the version.',
  }),
})
