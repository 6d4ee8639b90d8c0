import { defineRule } from '../../findings/rule.ts'

export const collidingFileNames = defineRule<{ file: string; other: string; key: string }>({
  id: 'colliding-file-names',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Files of a bundle have names that stay apart when it is unpacked',
  format: ({ file, other, key }) => ({
    what: `${file} and ${other} both become "${key}" when OLM unpacks the bundle`,
    why: 'One of them is lost, and nobody chooses which.',
    fix: 'Rename one; letters, digits, dots, dashes and underscores are kept.',
  }),
})
