import { defineRule } from '@catalog-bot/findings/rule'

export const nestedBundleDirectory = defineRule<{ path: string }>({
  id: 'nested-bundle-directory',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Bundle directories have no subdirectories',
  format: ({ path }) => ({
    what: `${path} is in a subdirectory of manifests/ or metadata/`,
    why: "OLM v0 can't unpack a bundle with subdirectories, and opm ignores them.",
    fix: 'Move the file up into manifests/ or metadata/.',
  }),
})
