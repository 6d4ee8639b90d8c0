import { defineRule } from '../../../findings/rule.ts'

export const malformedPackageSettings = defineRule<{ file: string; problem: string }>({
  id: 'malformed-package-settings',
  check: 'validation',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The settings of a package can be read as they are meant',
  format: ({ file, problem }) => ({
    what: `${file} is not as it must be: ${problem}`,
    why: 'Whoever releases the package reads these settings. What they cannot read they take for something else, or for nothing.',
    fix: 'Correct the value, as the table of settings in docs/bundle-directories.md shows it.',
  }),
})
