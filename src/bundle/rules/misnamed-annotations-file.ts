import type { Rule } from '../../findings/rule.ts'

export const misnamedAnnotationsFile: Rule<{ file: string }> = {
  id: 'misnamed-annotations-file',
  check: 'images',
  severity: 'error',
  title: 'The annotations are in metadata/annotations.yaml',
  say: ({ file }) => ({
    what: `the annotations are in ${file}, not in metadata/annotations.yaml`,
    why: 'opm finds them under any name; OLM v0 treats the file as payload, and OLM v1 refuses the bundle.',
    fix: 'Name the file metadata/annotations.yaml.',
  }),
}
