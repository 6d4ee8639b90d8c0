import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'

export const emptyCatalog = defineRule<{ files: number }, CatalogRuleSignature>({
  id: 'empty-catalog',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'warning',
  since: '0.1.0',
  title: 'A catalog has at least one package',
  format: ({ files }) => ({
    what: files === 0 ? 'the catalog has no files' : 'the catalog has no packages',
    why: 'An empty catalog is valid but useless. Usually, its files are in a different directory or are ignored.',
    fix: 'Check the directory and its .indexignore file, or remove the catalog.',
  }),
  *find({ catalog }) {
    // An unreadable catalog may not be empty.
    if (catalog.packages.length === 0 && catalog.loadErrors.length === 0)
      yield { about: ['', 'catalog'], data: { files: catalog.files.length } }
  },
})
