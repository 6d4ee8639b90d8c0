import { defineRule } from '@catalog-bot/findings/rule'

export const unknownPackageSetting = defineRule<{ file: string; key: string; known?: string }>({
  id: 'unknown-package-setting',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'Package settings have known names',
  format: ({ file, key, known }) => ({
    what: `${file} has the unknown setting "${key}"${known === undefined ? '' : `; did you mean "${known}"?`}`,
    why: 'Unknown settings have no effect.',
    fix: 'Correct its name, or remove it.',
  }),
})
