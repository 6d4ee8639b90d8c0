import { defineRule } from '@catalog-bot/findings/rule'

export const bundleDiffersFromImage = defineRule<{ reference: string; differences: readonly string[] }>({
  id: 'bundle-differs-from-image',
  check: 'images',
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: "A bundle's properties and related images match its image",
  format: ({ reference, differences }) => ({
    what: `the catalog and the image ${reference} disagree: ${differences.join('; ')}`,
    why: 'OLM resolves dependencies and tools mirror images based on the catalog, but the cluster installs the content of the image.',
    fix: 'Render the bundle again from its image with `opm render`.',
  }),
})
