import { defineRule } from '../../findings/rule.ts'

export const invalidCsvName = defineRule<{ name: string }>({
  id: 'invalid-csv-name',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The name of a ClusterServiceVersion can be a name and a label',
  format: ({ name }) => ({
    what: `"${name}" cannot be the name of a ClusterServiceVersion`,
    why: 'The name becomes that of an object and the value of a label on the cluster.',
    fix: 'Use lower-case letters, digits, - and ., at most 63 characters, as in foo.v1.0.0.',
  }),
})
