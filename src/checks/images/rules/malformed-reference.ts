import { defineRule } from '../../../findings/rule.ts'

export const malformedReference = defineRule<{ reference: string; reason: string }>({
  id: 'malformed-reference',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every image reference follows the reference grammar',
  format: ({ reference, reason }) => ({
    what: `${JSON.stringify(reference)} is not an image reference: ${reason}`,
    why: 'No container runtime understands it.',
    fix: 'Write it as registry/path@sha256:digest, without a scheme, in lower case.',
  }),
})
