import type { Rule } from '../../../findings/rule.ts'

export const digestMismatch: Rule<{ reference: string; reason: string }> = {
  id: 'digest-mismatch',
  check: 'images',
  severity: 'error',
  title: 'The bytes behind a digest are those that the digest names',
  say: ({ reference, reason }) => ({
    what: `the registry serves something else as ${reference}: ${reason}`,
    why: 'Every container runtime verifies the digest and refuses such an image.',
    fix: 'Push the image again and use the digest that the push reports.',
  }),
}
