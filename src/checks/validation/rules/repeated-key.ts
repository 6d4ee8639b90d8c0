// A key that appears twice in one mapping. YAML and JSON forbid this, but opm silently uses the last value.
import { defineRule } from '@catalog-bot/findings/rule'
import type { CatalogRuleSignature } from '../catalog-rule.ts'
import { toParserLeniencyRuleHit, listParserLeniencies } from '../view/leniencies.ts'

export const repeatedKey = defineRule<{ path: string }, CatalogRuleSignature>({
  id: 'repeated-key',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'Every key of a mapping is unique',
  format: ({ path }) => ({
    what: `the key "${path}" appears more than once`,
    why: 'opm uses only the last value, and silently drops everything under the earlier keys.',
    fix: 'Merge them into a single key.',
  }),
  *find(catalog) {
    for (const leniency of listParserLeniencies(catalog, 'repeated-key'))
      yield { ...toParserLeniencyRuleHit(leniency, leniency.path), data: { path: leniency.path } }
  },
})
