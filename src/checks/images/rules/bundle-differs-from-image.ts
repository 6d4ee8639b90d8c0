import { defineRule } from '../../../findings/rule.ts'

export const bundleDiffersFromImage = defineRule<{ reference: string; differences: readonly string[] }>({
  id: 'bundle-differs-from-image',
  check: 'images',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Properties and related images of a bundle are those of its image',
  format: ({ reference, differences }) => ({
    what: `the catalog and the image ${reference} say different things: ${differences.join('; ')}`,
    why: 'Dependencies are resolved, and images are mirrored, by what the catalog says; the cluster installs what the image says.',
    fix: 'Render the bundle again from its image (opm render).',
  }),
})
