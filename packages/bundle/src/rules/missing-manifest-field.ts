import { defineRule } from '@catalog-bot/findings/rule'

export const missingManifestField = defineRule<{ object: string; field: string }>({
  id: 'missing-manifest-field',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Manifests have all fields that Kubernetes requires',
  format: ({ object, field }) => ({
    what: `${object} does not set ${field}, which Kubernetes requires`,
    why: 'The API server rejects objects without required fields, so the installation fails.',
    fix: 'Add the field.',
  }),
})
