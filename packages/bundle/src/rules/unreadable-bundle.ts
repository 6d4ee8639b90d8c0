import { defineRule } from '@catalog-bot/findings/rule'

export const unreadableBundle = defineRule<{ reason: string; isEmpty?: true }>({
  id: 'unreadable-bundle',
  check: 'images',
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'opm can read the bundle',
  format: ({ reason }) => ({
    what: `opm can't read this bundle: ${reason}`,
    why: "opm can't add the bundle to a catalog, and OLM can't install it.",
    fix: 'Correct the bundle directory, rebuild the image, and use its new digest.',
  }),
})
