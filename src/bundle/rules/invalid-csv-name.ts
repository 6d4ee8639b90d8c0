import type { Rule } from '../../findings/rule.ts'

export const invalidCsvName: Rule<{ name: string }> = {
  id: 'invalid-csv-name',
  check: 'images',
  severity: 'error',
  title: 'The name of a ClusterServiceVersion can be a name and a label',
  say: ({ name }) => ({
    what: `"${name}" cannot be the name of a ClusterServiceVersion`,
    why: 'The name becomes that of an object and the value of a label on the cluster.',
    fix: 'Use lower-case letters, digits, - and ., at most 63 characters, as in foo.v1.0.0.',
  }),
}
