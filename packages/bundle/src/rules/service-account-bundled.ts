import { defineRule } from '@catalog-bot/findings/rule'

export const serviceAccountBundled = defineRule<{ name: string; file: string }>({
  id: 'service-account-bundled',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: "OLM creates the Operator's service accounts",
  format: ({ name, file }) => ({
    what: `${file} is the service account "${name}", which a deployment of the Operator uses`,
    why: 'OLM creates this service account as well, and the two definitions conflict during upgrades.',
    fix: 'Remove the file from the bundle.',
  }),
})
