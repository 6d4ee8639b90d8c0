import { defineRule } from '../../findings/rule.ts'

export const mistypedManifestField = defineRule<{
  object: string
  field: string
  wanted: string
  found: string
}>({
  id: 'mistyped-manifest-field',
  check: 'install',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Fields of manifests have the type that Kubernetes wants',
  format: ({ object, field, wanted, found }) => ({
    what: `${object}: ${field} is ${found}, where Kubernetes wants ${wanted}`,
    why: 'The API server refuses the object, and the install fails.',
    fix: 'Correct the value; texts that look like numbers need quotes.',
  }),
})
