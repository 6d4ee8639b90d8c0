import { defineRule } from '@catalog-bot/findings/rule'

export const malformedPackageSettings = defineRule<{ file: string; problem: string }>({
  id: 'malformed-package-settings',
  check: 'validation',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Package settings are valid',
  format: ({ file, problem }) => ({
    what: `${file} is invalid: ${problem}`,
    why: 'Release tools read these settings, and they misinterpret or ignore invalid values.',
    fix: 'Correct the value. See the settings table in docs/bundle-directories.md.',
  }),
})
