import { defineRule } from '@catalog-bot/findings/rule'

export const bundleIdentityMismatch = defineRule<{ reference: string; differences: readonly string[] }>({
  id: 'bundle-not-its-image',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: "A bundle's image contains the bundle that the catalog declares",
  format: ({ reference, differences }) => ({
    what: `the image ${reference} contains a different bundle than the catalog declares: ${differences.join('; ')}`,
    why: 'OLM installs the content of the image under the name and version that the catalog declares.',
    fix: 'Render the bundle again from its image with `opm render`, or specify the correct image.',
  }),
})
