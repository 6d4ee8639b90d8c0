import { defineRule } from '../../../findings/rule.ts'

export const releaseConfigMismatch = defineRule<{ problem: string }>({
  id: 'release-config-mismatch',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'What is to be released fits the catalogs of the package',
  format: ({ problem }) => ({
    what: problem,
    why: 'The bundle is not added to the catalogs that this file names.',
    fix: 'Make release-config.yaml and ci.yaml say the same.',
  }),
})
