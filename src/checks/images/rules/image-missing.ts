import { defineRule } from '../../../findings/rule.ts'

export const imageMissing = defineRule<{ reference: string; reason: string }>({
  id: 'image-missing',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every image that the catalog names is in its registry',
  format: ({ reference, reason }) => ({
    what: `the image ${reference} does not exist: ${reason}`,
    why: 'A cluster that picks this version cannot pull the image, and its installation hangs until someone intervenes.',
    fix: 'Push the image, or correct the reference. Then comment /recheck.',
  }),
})
