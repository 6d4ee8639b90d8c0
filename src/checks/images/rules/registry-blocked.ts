import { defineRule } from '@catalog-bot/findings/rule'

export const registryBlocked = defineRule<{ reference: string; reason: string }>({
  id: 'registry-blocked',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Images are in registries that catalog-bot can query safely',
  format: ({ reference, reason }) => ({
    what: `catalog-bot did not look up the image ${reference}: ${reason}`,
    why: 'Clusters elsewhere cannot pull images from an internal address or from a registry without TLS.',
    fix: 'Use an image from a public registry over HTTPS. A bot administrator can allow a registry host on their own network.',
  }),
})
