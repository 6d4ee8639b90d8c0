// Several JSON objects in a file that opm reads as YAML: opm loads only the first, silently.
import { defineRule } from '../../../findings/rule.ts'
import type { CatalogRuleKind } from '../catalog-rule.ts'
import { toLeniencyHit, listLeniencies } from '../view/leniencies.ts'

export const concatenatedJson = defineRule<{ name: string }, CatalogRuleKind>({
  id: 'concatenated-json',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'A file of JSON objects starts with the first of them',
  format: ({ name }) => ({
    what: `the objects after the first one${name === '' ? '' : ` ("${name}")`} are not read`,
    why:
      'A file that does not start with "{" is read as YAML, where a document ends with its first value: ' +
      'everything behind it is missing from the catalog.',
    fix: 'Remove what stands before the first "{" (a comment, "---", a byte order mark), or put "---" between the objects.',
  }),
  *find(catalog) {
    for (const leniency of listLeniencies(catalog, 'dropped-text')) {
      if (!leniency.text.trimStart().startsWith('{')) continue
      yield { ...toLeniencyHit(leniency, 'objects'), data: { name: leniency.name } }
    }
  },
})
