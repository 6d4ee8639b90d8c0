// What our own rules find in a catalog, each rule with its default severity. Worked out once for each catalog value:
// the same base stands under many pull requests.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { linkLeadsOut } from '../../catalog/load/file-rules.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { gather } from './catalog-rule.ts'
import { viewCatalog } from './view/catalog-view.ts'
import { defaultLimits } from './limits.ts'
import { rules } from './rules.ts'
import { oncePer } from '../../findings/once.ts'

/** The findings of our own rules, sorted, as many of each as a list keeps. Places name files as the catalog does. */
export const ownFindings = oncePer((catalog: Catalog): readonly Finding[] => {
  const view = viewCatalog(catalog)
  // Where a link leads is not in a file's bytes: whoever loads the catalog finds it.
  const linked = catalog.findings.filter(({ rule }) => rule === linkLeadsOut.id)
  const list = new FindingList()
  list.take(linked)
  for (const rule of rules) gather(rule, view, defaultLimits, list)
  return list.sorted()
})
