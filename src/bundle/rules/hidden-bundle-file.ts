import { defineRule } from '../../findings/rule.ts'

export const hiddenBundleFile = defineRule<{ file: string }>({
  id: 'hidden-bundle-file',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Bundles have no hidden files',
  format: ({ file }) => ({
    what: `${file} is hidden: its name begins with a dot`,
    why: 'opm passes over it among the manifests and reads it among the metadata; operator-sdk refuses the bundle.',
    fix: 'Rename it, or leave it out of the image.',
  }),
})
