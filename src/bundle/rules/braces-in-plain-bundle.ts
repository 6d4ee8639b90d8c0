import { defineRule } from '../../findings/rule.ts'

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
    what: `${file} has "{{" in it`,
    why: 'The plain provisioner wraps each object into a chart, so the text is evaluated as a template.',
    fix: 'Render the manifests before they are bundled.',
  }),
})
