import { defineRule } from '../../findings/rule.ts'

export const severalDocumentsInManifest = defineRule<{ file: string; documents: number }>({
  id: 'several-documents-in-manifest',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A manifest file holds one document',
  format: ({ file, documents }) => ({
    what: `${file} holds ${documents} documents, of which only the first is read`,
    why: 'opm and OLM v0 read the first document of a file and lose the others without a word; OLM v1 reads all of them.',
    fix: 'Put each object into a file of its own.',
  }),
})
