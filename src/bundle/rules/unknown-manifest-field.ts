import { defineRule } from '../../findings/rule.ts'

export const unknownManifestField = defineRule<{ object: string; field: string }>({
  id: 'unknown-manifest-field',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Manifests have only fields that Kubernetes knows',
  format: ({ object, field }) => ({
    what: `${object} has a field that Kubernetes does not know: ${field}`,
    why: 'The API server drops it, so what it should do does not happen.',
    fix: 'Correct its name or its indentation, or remove it.',
  }),
})
