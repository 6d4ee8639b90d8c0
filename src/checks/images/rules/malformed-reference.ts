import { defineRule } from '@catalog-bot/findings/rule'

export const malformedReference = defineRule<{ reference: string; reason: string }>({
  id: 'malformed-reference',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Every image reference has valid syntax',
  format: ({ reference, reason }) => ({
    what: `${JSON.stringify(reference)} is not a valid image reference: ${reason}`,
    why: 'Container runtimes cannot parse the reference, so they cannot pull the image.',
    fix: 'Write the reference in lowercase and without a scheme: registry/path@sha256:digest.',
  }),
})
