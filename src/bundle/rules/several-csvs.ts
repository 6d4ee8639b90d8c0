import type { Rule } from '../../findings/rule.ts'

export const severalCsvs: Rule<{ names: readonly string[] }> = {
  id: 'several-csvs',
  check: 'images',
  severity: 'error',
  title: 'A bundle has one ClusterServiceVersion',
  say: ({ names }) => ({
    what: `the bundle has ${names.length} ClusterServiceVersions: ${names.join(', ')}`,
    why: 'opm takes the first by file name and drops the others; OLM v1 takes the last.',
    fix: 'Leave one; a bundle is one version of one Operator.',
  }),
}
