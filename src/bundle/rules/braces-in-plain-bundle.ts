import type { Rule } from '../../findings/rule.ts'

export const bracesInPlainBundle: Rule<{ file: string }> = {
  id: 'braces-in-plain-bundle',
  check: 'images',
  severity: 'warning',
  title: 'Plain bundles have no template braces',
  say: ({ file }) => ({
    what: `${file} has "{{" in it`,
    why: 'The plain provisioner wraps each object into a chart, so the text is evaluated as a template.',
    fix: 'Render the manifests before they are bundled.',
  }),
}
