import { defineRule } from '@catalog-bot/findings/rule'

export const platformMissing = defineRule<{
  reference: string
  missing: readonly string[]
  offered: readonly string[]
}>({
  id: 'platform-missing',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Related images support every required platform',
  format: ({ reference, missing, offered }) => ({
    what: `the image ${reference} does not support ${missing.join(', ')}`,
    why: `The Operator cannot run on nodes of an unsupported platform. ${offered.length === 0 ? 'The image declares no platforms.' : `The image supports ${offered.join(', ')}.`}`,
    fix: 'Build the image for the missing platforms, and reference the image index by digest.',
  }),
})
