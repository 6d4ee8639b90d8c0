import { defineRule } from '../../../findings/rule.ts'

export const bundleIdentityMismatch = defineRule<{ reference: string; differences: readonly string[] }>({
  id: 'bundle-not-its-image',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle in the catalog is the bundle that its image holds',
  format: ({ reference, differences }) => ({
    what: `the image ${reference} holds another bundle than the catalog says: ${differences.join('; ')}`,
    why: 'OLM installs what is in the image, under the name and version that the catalog gives it.',
    fix: 'Render the bundle again from its image (opm render), or name the right image.',
  }),
})
