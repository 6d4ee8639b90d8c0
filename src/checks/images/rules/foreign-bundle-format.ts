import { defineRule } from '@catalog-bot/findings/rule'

export const bundleFormatMismatch = defineRule<{ reference: string; format: string; named?: string }>({
  id: 'foreign-bundle-format',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: "A bundle's image has the format that the catalog declares",
  format: ({ reference, format, named }) => ({
    what: `the image ${reference} contains a ${format} bundle, but the catalog declares ${named ?? 'no format, which means registry+v1'}`,
    why: 'OLM unpacks the image in the format that the catalog declares, finds no ClusterServiceVersion or chart, and does not install it.',
    fix: 'Build a registry+v1 bundle. If your clusters support the other format, declare it in an olm.bundle.mediatype property instead.',
  }),
})
