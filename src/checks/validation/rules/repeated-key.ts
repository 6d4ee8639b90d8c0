// A key appears twice in one mapping: YAML and JSON forbid it, opm silently uses the last one.
import { defineRule } from '../../../findings/rule.ts'
import type { CatalogRuleKind } from '../catalog-rule.ts'
import { toLeniencyHit, listLeniencies } from '../view/leniencies.ts'

export const repeatedKey = defineRule<{ path: string }, CatalogRuleKind>({
  id: 'repeated-key',
  check: 'validation',
  overridable: true,
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  title: 'No mapping says the same key twice',
  format: ({ path }) => ({
    what: `"${path}" is written more than once`,
    why: 'Only the last one counts; everything under the earlier ones is lost without a message.',
    fix: 'Keep one of them, with the content of all.',
  }),
  *find(catalog) {
    for (const leniency of listLeniencies(catalog, 'repeated-key'))
      yield { ...toLeniencyHit(leniency, leniency.path), data: { path: leniency.path } }
  },
})
