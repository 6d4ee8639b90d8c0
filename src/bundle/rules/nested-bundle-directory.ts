import { defineRule } from '../../findings/rule.ts'

export const nestedBundleDirectory = defineRule<{ path: string }>({
  id: 'nested-bundle-directory',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The directories of a bundle are flat',
  format: ({ path }) => ({
    what: `${path} lies in a directory below manifests/ or metadata/`,
    why: 'OLM v0 fails to unpack a bundle with directories in these directories; opm passes over them.',
    fix: 'Move the file up.',
  }),
})
