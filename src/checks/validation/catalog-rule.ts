// Rules that search a whole catalog: their input, their hits, and how a hit becomes a finding.
import { createFinding, formatFindingSubject } from '@catalog-bot/findings/rule'
import type { SearchableFindingRule } from '@catalog-bot/findings/rule'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import type { FindingList } from '@catalog-bot/findings/finding-list'
import type { BlobLocation } from '@catalog-bot/fbc/facts/catalog'
import type { TextPosition } from '@catalog-bot/fbc/go/position-lookup'
import type { CatalogView } from './view/catalog-view.ts'
import type { CatalogSizeLimits } from './limits.ts'

export interface CatalogRuleSignature {
  readonly judges: 'catalog'
  readonly given: readonly [catalog: CatalogView, limits: CatalogSizeLimits]
  readonly hit: {
    /** Absent for findings about the whole catalog. */
    readonly at?: Location
    /**
     * Path of names, package first ('' if none): `['foo', 'stable', 'foo.v1']`. No lines or counts, so that it stays
     * the same across versions of the catalog.
     */
    readonly about: readonly string[]
    readonly related?: Finding['related']
  }
}

export type CatalogRule = SearchableFindingRule<object, CatalogRuleSignature>

export function addCatalogRuleFindings(
  rule: CatalogRule,
  catalog: CatalogView,
  limits: CatalogSizeLimits,
  into: FindingList,
): void {
  for (const hit of rule.find(catalog, limits))
    into.addLazily(rule, hit.at, () => createCatalogFinding(rule, hit))
}

function createCatalogFinding(
  rule: CatalogRule,
  hit: CatalogRuleSignature['hit'] & { readonly data: object },
): Finding {
  const found = createFinding(rule, hit.at, hit.data, hit.related)
  return {
    ...found,
    subject: formatFindingSubject(hit.about),
    data: { package: hit.about[0] ?? '', ...found.data },
  }
}

export function toFindingLocation(position: BlobLocation, mark: TextPosition = position): Location {
  return { file: position.file, line: mark.line, column: mark.column }
}
