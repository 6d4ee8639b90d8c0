import { defineRule } from '../../../findings/rule.ts'
import { formatNames } from '../../validation/format-names.ts'

export const bundleDirectorySkipsUnknown = defineRule<{ name: string; skipped: readonly string[] }>({
  id: 'bundle-directory-skips-unknown',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle skips bundles that exist',
  format: ({ name, skipped }) => ({
    what: `${name} skips ${formatNames(skipped, 3)}, which neither a directory of the package nor its catalogs have`,
    why: 'A misspelt name is skipped by nobody: clusters stay on the version that was meant.',
    fix: 'Correct the names, or take them out.',
  }),
})
