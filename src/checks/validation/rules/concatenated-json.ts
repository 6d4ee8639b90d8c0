// Several JSON objects in a file that opm parses as YAML. opm silently loads only the first.
import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { toParserLeniencyRuleHit, listParserLeniencies } from '../view/leniencies.ts'

export const concatenatedJson = defineRule<{ name: string }, CatalogRuleSignature>({
  id: 'concatenated-json',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'A file of JSON objects starts with "{"',
  format: ({ name }) => ({
    what: `opm does not read the objects after the first one${name === '' ? '' : ` ("${name}")`}`,
    why:
      'A file that does not start with "{" is parsed as YAML, where a document ends after its first value. ' +
      'The remaining objects are missing from the catalog.',
    fix: 'Remove everything before the first "{" (a comment, "---", or a byte order mark), or put "---" between the objects.',
  }),
  *find(catalog) {
    for (const leniency of listParserLeniencies(catalog, 'dropped-text')) {
      if (!leniency.text.trimStart().startsWith('{')) continue
      yield { ...toParserLeniencyRuleHit(leniency, 'objects'), data: { name: leniency.name } }
    }
  },
})
