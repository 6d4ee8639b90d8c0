import { defineRule } from '../../../findings/rule.ts'

export const unconventionalBundleName = defineRule<{ name: string; wanted: string }>({
  id: 'unconventional-bundle-name',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A bundle is named for its package and version',
  format: ({ name, wanted }) => ({
    what: `the bundle is named ${name}, not ${wanted}`,
    why: 'People and tools read package and version off the name.',
    fix: 'Rename the ClusterServiceVersion while nobody has it installed.',
  }),
})
