import { defineRule } from '@catalog-bot/findings/rule'

export const releaseConfigMismatch = defineRule<{ problem: string }>({
  id: 'release-config-mismatch',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'The release configuration matches the catalogs of the package',
  format: ({ problem }) => ({
    what: problem,
    why: 'The bundle is not added to the catalogs that this file specifies.',
    fix: 'Make release-config.yaml and ci.yaml consistent.',
  }),
})
