// Findings of our own rules, with default severities. Cached per catalog, because many pull requests share a base.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { linkLeadsOut } from '../../catalog/load/file-rules.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { gather } from './catalog-rule.ts'
import { viewCatalog } from './view/catalog-view.ts'
import { defaultLimits } from './limits.ts'
import { rules } from './rules.ts'
import { oncePer } from '../../findings/once.ts'

/** Sorted and limited per rule. Places use the catalog's file names. */
export const ownFindings = oncePer((catalog: Catalog): readonly Finding[] => {
  const view = viewCatalog(catalog)
  // The loader finds these, because a file's bytes do not show where a link leads.
  const linked = catalog.findings.filter(({ rule }) => rule === linkLeadsOut.id)
  const list = new FindingList()
  list.take(linked)
  for (const rule of rules) gather(rule, view, defaultLimits, list)
  return list.sorted()
})
