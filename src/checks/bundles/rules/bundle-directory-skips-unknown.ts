import { defineRule } from '../../../findings/rule.ts'

export const bundleDirectorySkipsUnknown = defineRule<{ name: string; skipped: readonly string[] }>({
  id: 'bundle-directory-skips-unknown',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle skips bundles that exist',
  say: ({ name, skipped }) => ({
    what: `${name} skips ${skipped.slice(0, 3).join(', ')}${skipped.length > 3 ? ` and ${skipped.length - 3} more` : ''}, which neither a directory of the package nor its catalogs have`,
    why: 'A misspelt name is skipped by nobody: clusters stay on the version that was meant.',
    fix: 'Correct the names, or take them out.',
  }),
})
