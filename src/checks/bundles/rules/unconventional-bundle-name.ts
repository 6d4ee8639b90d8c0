import { defineRule } from '@catalog-bot/findings/rule'

export const unconventionalBundleName = defineRule<{ name: string; wanted: string }>({
  id: 'unconventional-bundle-name',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle is named after its package and version',
  format: ({ name, wanted }) => ({
    what: `the bundle is named ${name} instead of ${wanted}`,
    why: 'Users and tools derive the package and the version from the name.',
    fix: 'Rename the ClusterServiceVersion before anyone installs it.',
  }),
})
