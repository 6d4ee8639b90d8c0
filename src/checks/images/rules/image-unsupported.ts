import { defineRule } from '@catalog-bot/findings/rule'

export const imageUnsupported = defineRule<{ reference: string; reason: string }>({
  id: 'image-unsupported',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every image has a format that clusters can pull',
  format: ({ reference, reason }) => ({
    what: `the image ${reference} cannot be used: ${reason}`,
    why: 'Container runtimes no longer pull this format, so clusters cannot install the version.',
    fix: 'Rebuild and push the image with a current tool. The OCI and Docker schema 2 formats both work.',
  }),
})
