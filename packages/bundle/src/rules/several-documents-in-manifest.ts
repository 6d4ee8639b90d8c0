import { defineRule } from '@catalog-bot/findings/rule'

export const severalDocumentsInManifest = defineRule<{ file: string; documents: number }>({
  id: 'several-documents-in-manifest',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'A manifest file contains one document',
  format: ({ file, documents }) => ({
    what: `${file} contains ${documents} documents, but only the first is read`,
    why: 'opm and OLM v0 silently ignore all documents after the first, while OLM v1 reads all of them.',
    fix: 'Put each object in a separate file.',
  }),
})
