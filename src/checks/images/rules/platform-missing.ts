import type { Rule } from '../../../findings/rule.ts'

export const platformMissing: Rule<{
  reference: string
  missing: readonly string[]
  offered: readonly string[]
}> = {
  id: 'platform-missing',
  check: 'images',
  severity: 'error',
  title: 'Related images are there for every platform that is wanted',
  say: ({ reference, missing, offered }) => ({
    what: `the image ${reference} is not there for ${missing.join(', ')}`,
    why: `On nodes of such a platform the Operator cannot run. The image is there for ${offered.length === 0 ? 'no platform that it names' : offered.join(', ')}.`,
    fix: 'Build the image for these platforms and name its index by digest.',
  }),
}
