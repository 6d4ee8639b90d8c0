import { defineRule } from '../../findings/rule.ts'

export const severalCsvs = defineRule<{ names: readonly string[] }>({
  id: 'several-csvs',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle has one ClusterServiceVersion',
  format: ({ names }) => ({
    what: `the bundle has ${names.length} ClusterServiceVersions: ${names.join(', ')}`,
    why: 'opm takes the first by file name and drops the others; OLM v1 takes the last.',
    fix: 'Leave one; a bundle is one version of one Operator.',
  }),
})
