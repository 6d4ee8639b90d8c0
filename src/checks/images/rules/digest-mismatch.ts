import { defineRule } from '@catalog-bot/findings/rule'

export const imageDigestMismatch = defineRule<{ reference: string; reason: string }>({
  id: 'digest-mismatch',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The content of an image matches its digest',
  format: ({ reference, reason }) => ({
    what: `the registry serves different content for ${reference}: ${reason}`,
    why: 'Every container runtime verifies the digest and rejects the image.',
    fix: 'Push the image again and use the digest that the push reports.',
  }),
})
