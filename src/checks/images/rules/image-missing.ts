import { defineRule } from '@catalog-bot/findings/rule'

export const imageMissing = defineRule<{ reference: string; reason: string }>({
  id: 'image-missing',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every referenced image exists in its registry',
  format: ({ reference, reason }) => ({
    what: `the image ${reference} does not exist: ${reason}`,
    why: 'A cluster that installs this version cannot pull the image, so the installation hangs until an administrator intervenes.',
    fix: 'Push the image, or correct the reference.',
  }),
})
