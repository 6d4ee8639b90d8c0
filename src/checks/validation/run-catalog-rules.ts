// Findings of catalog-bot's own rules, with default severities. Cached per catalog, because many pull requests share a
// base.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { linkLeadsOut } from '@catalog-bot/fbc/load/file-rules'
import type { Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { addCatalogRuleFindings } from './catalog-rule.ts'
import { createCatalogView } from './view/catalog-view.ts'
import { defaultCatalogSizeLimits } from './limits.ts'
import { catalogRules } from './rules.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

/** Sorted and limited per rule. Locations use the catalog's file names. */
export const runCatalogRules = memoizePerObject((catalog: Catalog): readonly Finding[] => {
  const view = createCatalogView(catalog)
  // The loader finds these, because the bytes of a file do not show the target of a link.
  const linked = catalog.findings.filter(({ rule }) => rule === linkLeadsOut.id)
  const list = new FindingList()
  list.addAll(linked)
  for (const rule of catalogRules) addCatalogRuleFindings(rule, view, defaultCatalogSizeLimits, list)
  return list.sorted()
})
