import { defineRule } from '../../findings/rule.ts'

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
  title: 'A bundle fits into a ConfigMap when it is unpacked',
  format: ({ bytes, limit, largest }) => ({
    what: `the bundle takes ${bytes} bytes packed for unpacking, the limit is ${limit}; largest: ${largest.join(', ')}`,
    why: 'OLM v0 unpacks a bundle into one ConfigMap, and gives up when it does not fit.',
    fix: 'Shorten descriptions in CRDs, shrink the icon, or move samples and dashboards out of the bundle.',
  }),
})
