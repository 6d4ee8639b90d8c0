import { defineRule } from '@catalog-bot/findings/rule'

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
  title: 'Manifest fields have the type that Kubernetes expects',
  format: ({ object, field, wanted, found }) => ({
    what: `${object}: ${field} is ${found}, but Kubernetes expects ${wanted}`,
    why: 'The API server rejects the object, so the installation fails.',
    fix: 'Correct the value. Put quotes around strings that look like numbers.',
  }),
})
