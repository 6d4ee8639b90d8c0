import { defineRule } from '../../../findings/rule.ts'

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
  title: 'Related images are there for every platform that is wanted',
  format: ({ reference, missing, offered }) => ({
    what: `the image ${reference} is not there for ${missing.join(', ')}`,
    why: `On nodes of such a platform the Operator cannot run. The image is there for ${offered.length === 0 ? 'no platform that it names' : offered.join(', ')}.`,
    fix: 'Build the image for these platforms and name its index by digest.',
  }),
})
