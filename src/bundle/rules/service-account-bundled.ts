import { defineRule } from '../../findings/rule.ts'

export const serviceAccountBundled = defineRule<{ name: string; file: string }>({
  id: 'service-account-bundled',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Service accounts of the Operator are left to OLM',
  format: ({ name, file }) => ({
    what: `${file} is the service account "${name}", which a deployment of the Operator runs as`,
    why: 'OLM creates the service accounts that deployments run as; two owners of one account take it from each other at upgrades.',
    fix: 'Take the file out of the bundle.',
  }),
})
