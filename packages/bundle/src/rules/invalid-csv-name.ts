import { defineRule } from '@catalog-bot/findings/rule'

export const invalidCsvName = defineRule<{ name: string }>({
  id: 'invalid-csv-name',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'ClusterServiceVersion names are valid object names and label values',
  format: ({ name }) => ({
    what: `"${name}" is not a valid ClusterServiceVersion name`,
    why: 'OLM uses the name for objects and as a label value on the cluster.',
    fix: 'Use at most 63 lowercase letters, digits, dashes and dots, for example foo.v1.0.0.',
  }),
})
