import type { Rule } from '../../findings/rule.ts'

export const serviceAccountBundled: Rule<{ name: string; file: string }> = {
  id: 'service-account-bundled',
  check: 'images',
  severity: 'error',
  title: 'Service accounts of the Operator are left to OLM',
  say: ({ name, file }) => ({
    what: `${file} is the service account "${name}", which the ClusterServiceVersion names too`,
    why: 'OLM creates the service accounts that permissions name; two owners of one account take it from each other at upgrades.',
    fix: 'Take the file out of the bundle.',
  }),
}
