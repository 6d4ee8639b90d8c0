import { defineRule } from '@catalog-bot/findings/rule'

export const misnamedAnnotationsFile = defineRule<{ file: string }>({
  id: 'misnamed-annotations-file',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Annotations are in metadata/annotations.yaml',
  format: ({ file }) => ({
    what: `the annotations are in ${file}, not in metadata/annotations.yaml`,
    why: 'opm accepts any file name, but OLM v0 treats the file as payload and OLM v1 rejects the bundle.',
    fix: 'Rename the file to metadata/annotations.yaml.',
  }),
})
