import { defineRule } from '../../../findings/rule.ts'

export const registryBlocked = defineRule<{ reference: string; reason: string }>({
  id: 'registry-blocked',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Images are in registries that can be asked safely',
  format: ({ reference, reason }) => ({
    what: `the image ${reference} was not asked for: ${reason}`,
    why: 'A catalog is for clusters everywhere: they cannot reach names and addresses of one network, or registries without TLS.',
    fix: 'Use an image in a public registry with https. Whoever runs the bot can allow the host of a registry in their own network.',
  }),
})
