import type { Rule } from '../../../findings/rule.ts'

export const imageMissing: Rule<{ reference: string; reason: string }> = {
  id: 'image-missing',
  check: 'images',
  severity: 'error',
  title: 'Every image that the catalog names is in its registry',
  say: ({ reference, reason }) => ({
    what: `the image ${reference} does not exist: ${reason}`,
    why: 'A cluster that picks this version cannot pull the image, and its installation hangs until someone intervenes.',
    fix: 'Push the image, or correct the reference. Then comment /recheck.',
  }),
}
