import { defineRule } from '../../findings/rule.ts'

export const missingManifestField = defineRule<{ object: string; field: string }>({
  id: 'missing-manifest-field',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Manifests have the fields that Kubernetes demands',
  format: ({ object, field }) => ({
    what: `${object} lacks ${field}, which Kubernetes demands`,
    why: 'An API server that does not know better refuses the object, and the install fails.',
    fix: 'Add the field.',
  }),
})
