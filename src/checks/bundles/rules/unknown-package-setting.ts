import { defineRule } from '../../../findings/rule.ts'

export const unknownPackageSetting = defineRule<{ file: string; key: string; known?: string }>({
  id: 'unknown-package-setting',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The settings of a package have names that somebody reads',
  format: ({ file, key, known }) => ({
    what: `${file} has "${key}", which nothing reads${known === undefined ? '' : `: "${known}" was probably meant`}`,
    why: 'A setting that nobody reads has no effect, and nobody is told.',
    fix: 'Correct its name, or remove it.',
  }),
})
