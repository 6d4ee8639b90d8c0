import type { Rule } from '../../../findings/rule.ts'

export const bundleDiffersFromImage: Rule<{ reference: string; differences: readonly string[] }> = {
  id: 'bundle-differs-from-image',
  check: 'images',
  severity: 'warning',
  title: 'Properties and related images of a bundle are those of its image',
  say: ({ reference, differences }) => ({
    what: `the catalog and the image ${reference} say different things: ${differences.join('; ')}`,
    why: 'Dependencies are resolved, and images are mirrored, by what the catalog says; the cluster installs what the image says.',
    fix: 'Render the bundle again from its image (opm render).',
  }),
}
