import { defineRule } from '../../../findings/rule.ts'

export const imageUnsupported = defineRule<{ reference: string; reason: string }>({
  id: 'image-unsupported',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Every image is in a format that clusters pull',
  format: ({ reference, reason }) => ({
    what: `the image ${reference} cannot be used: ${reason}`,
    why: 'Container runtimes no longer pull it, so the version cannot be installed.',
    fix: 'Build and push the image again with a current tool; the OCI and the Docker schema 2 formats both work.',
  }),
})
