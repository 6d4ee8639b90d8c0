import { defineRule } from '../../../findings/rule.ts'

export const imageDigestMismatch = defineRule<{ reference: string; reason: string }>({
  id: 'digest-mismatch',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The bytes behind a digest are those that the digest names',
  format: ({ reference, reason }) => ({
    what: `the registry serves something else as ${reference}: ${reason}`,
    why: 'Every container runtime verifies the digest and refuses such an image.',
    fix: 'Push the image again and use the digest that the push reports.',
  }),
})
