import { defineRule } from '@catalog-bot/findings/rule'

export const bundleDirectoryOfOtherVersion = defineRule<{ directory: string; version: string }>({
  id: 'bundle-directory-of-other-version',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle is in a directory named after its version',
  format: ({ directory, version }) => ({
    what: `the directory "${directory}" contains version ${version}`,
    why: 'Releases, tests and reviewers identify a version by its directory.',
    fix: 'Rename the directory to match spec.version, or correct the version.',
  }),
})
