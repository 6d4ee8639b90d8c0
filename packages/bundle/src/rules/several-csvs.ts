import { defineRule } from '@catalog-bot/findings/rule'

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
    why: 'opm uses the first one by file name and ignores the others, while OLM v1 uses the last one.',
    fix: 'Keep one ClusterServiceVersion, because a bundle is one version of one Operator.',
  }),
})
