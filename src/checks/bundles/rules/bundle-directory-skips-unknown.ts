import { defineRule } from '@catalog-bot/findings/rule'
import { formatTruncatedNames } from '../../validation/format-names.ts'

export const bundleDirectorySkipsUnknown = defineRule<{ name: string; skipped: readonly string[] }>({
  id: 'bundle-directory-skips-unknown',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle skips only existing bundles',
  format: ({ name, skipped }) => ({
    what: `${name} skips ${formatTruncatedNames(skipped, 3)}, which exists neither in the package's directories nor in its catalogs`,
    why: 'A misspelled name has no effect, so clusters remain on the version that should be skipped.',
    fix: 'Correct the names, or remove them.',
  }),
})
