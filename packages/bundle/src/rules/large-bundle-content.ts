import { defineRule } from '@catalog-bot/findings/rule'

export const largeBundleContent = defineRule<{ bytes: number; limit: number; largest: readonly string[] }>({
  id: 'large-bundle-content',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A bundle stays well below the size that OLM can unpack',
  format: ({ bytes, limit, largest }) => ({
    what: `the packed bundle takes ${bytes} of ${limit} bytes; largest files: ${largest.join(', ')}`,
    why: 'If the next release adds another CRD version, OLM v0 might be unable to unpack it.',
    fix: 'Shorten descriptions in CRDs, shrink the icon, or move samples and dashboards out of the bundle.',
  }),
})
