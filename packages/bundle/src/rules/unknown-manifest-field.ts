import { defineRule } from '@catalog-bot/findings/rule'

export const unknownManifestField = defineRule<{ object: string; field: string }>({
  id: 'unknown-manifest-field',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Manifests contain only fields that Kubernetes defines',
  format: ({ object, field }) => ({
    what: `${object} has a field that Kubernetes does not define: ${field}`,
    why: 'The API server drops the field, so it has no effect.',
    fix: 'Correct its name or indentation, or remove it.',
  }),
})
