import { defineRule } from '../../findings/rule.ts'

export const misnamedAnnotationsFile = defineRule<{ file: string }>({
  id: 'misnamed-annotations-file',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The annotations are in metadata/annotations.yaml',
  format: ({ file }) => ({
    what: `the annotations are in ${file}, not in metadata/annotations.yaml`,
    why: 'opm finds them under any name; OLM v0 treats the file as payload, and OLM v1 refuses the bundle.',
    fix: 'Name the file metadata/annotations.yaml.',
  }),
})
