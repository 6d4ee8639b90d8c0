import { defineRule } from '@catalog-bot/findings/rule'

export const bracesInPlainBundle = defineRule<{ file: string }>({
  id: 'braces-in-plain-bundle',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Plain bundles have no template braces',
  format: ({ file }) => ({
    what: `${file} contains "{{"`,
    why: 'The plain provisioner wraps each object in a Helm chart, so Helm evaluates the braces as a template.',
    fix: 'Render the manifests before you add them to the bundle.',
  }),
})
