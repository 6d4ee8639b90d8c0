import { defineRule } from '@catalog-bot/findings/rule'

export const oversizedBundleContent = defineRule<{
  bytes: number
  limit: number
  largest: readonly string[]
}>({
  id: 'oversized-bundle-content',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'An unpacked bundle fits into a ConfigMap',
  format: ({ bytes, limit, largest }) => ({
    what: `the packed bundle takes ${bytes} bytes, but the limit is ${limit}; largest files: ${largest.join(', ')}`,
    why: "OLM v0 unpacks a bundle into one ConfigMap and fails if it doesn't fit.",
    fix: 'Shorten descriptions in CRDs, shrink the icon, or move samples and dashboards out of the bundle.',
  }),
})
