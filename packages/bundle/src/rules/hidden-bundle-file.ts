import { defineRule } from '@catalog-bot/findings/rule'

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
    what: `${file} is hidden because its name starts with a dot`,
    why: 'opm ignores hidden files in manifests/ but reads them in metadata/, and operator-sdk rejects the bundle.',
    fix: 'Rename the file, or exclude it from the image.',
  }),
})
