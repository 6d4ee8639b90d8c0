import { defineRule } from '@catalog-bot/findings/rule'

export const collidingFileNames = defineRule<{ file: string; other: string; key: string }>({
  id: 'colliding-file-names',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'File names in a bundle remain unique after unpacking',
  format: ({ file, other, key }) => ({
    what: `${file} and ${other} both become "${key}" when OLM unpacks the bundle`,
    why: 'One of the two files overwrites the other, in an unpredictable order.',
    fix: 'Rename one of the files. OLM replaces all characters except letters, digits, dots, dashes and underscores.',
  }),
})
