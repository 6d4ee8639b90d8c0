import { defineRule } from '@catalog-bot/findings/rule'

export const wrongBundleFormat = defineRule<{ named: string; found: string }>({
  id: 'wrong-bundle-format',
  check: 'images',
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle has the format that its annotations declare',
  format: ({ named, found }) => ({
    what: `the annotations declare the format ${named}, but the files have the format ${found}`,
    why: 'Tools use the declared format to decide how to install the bundle.',
    fix: 'Correct the mediatype annotation, or correct the files.',
  }),
})
