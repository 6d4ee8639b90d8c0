import type { Rule } from '../../findings/rule.ts'

export const nestedBundleDirectory: Rule<{ path: string }> = {
  id: 'nested-bundle-directory',
  check: 'images',
  severity: 'error',
  title: 'The directories of a bundle are flat',
  say: ({ path }) => ({
    what: `${path} lies in a directory below manifests/ or metadata/`,
    why: 'OLM v0 fails to unpack a bundle with directories in these directories; opm passes over them.',
    fix: 'Move the file up.',
  }),
}
