import { defineRule } from '@catalog-bot/findings/rule'

export const registryNotAllowed = defineRule<{ reference: string; allowed: readonly string[] }>({
  id: 'registry-not-allowed',
  check: 'images',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'Images come from registries that this repository allows',
  format: ({ reference, allowed }) => ({
    what: `the image ${reference} is in a registry that this repository does not allow`,
    why: `This repository allows only images from ${allowed.join(', ')}.`,
    fix: 'Move the image to an allowed registry, or ask a maintainer to add its registry to images.registries.',
  }),
})
