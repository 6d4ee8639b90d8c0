// Rules that search a whole catalog: their input, their hits, and how a hit becomes a finding.
import { finding, subjectOf } from '../../findings/rule.ts'
import type { SearchingRule } from '../../findings/rule.ts'
import type { Finding, Location } from '../../findings/finding.ts'
import type { FindingList } from '../../findings/finding-list.ts'
import type { BlobPlace } from '../../catalog/facts/catalog.ts'
import type { Mark } from '../../go/mark.ts'
import type { CatalogView } from './view/catalog-view.ts'
import type { Limits } from './limits.ts'

export interface OfCatalog {
  readonly judges: 'catalog'
  readonly given: readonly [catalog: CatalogView, limits: Limits]
  readonly hit: {
    /** Absent if the whole catalog is meant. */
    readonly at?: Location
    /**
     * Path of names, package first ('' if none): `['foo', 'stable', 'foo.v1']`. No lines or counts, so that it stays
     * the same across versions of the catalog.
     */
    readonly about: readonly string[]
    readonly related?: Finding['related']
  }
}

export type CatalogRule = SearchingRule<object, OfCatalog>

export function gather(rule: CatalogRule, catalog: CatalogView, limits: Limits, into: FindingList): void {
  for (const hit of rule.find(catalog, limits)) into.offer(rule, hit.at, () => findingOf(rule, hit))
}

function findingOf(rule: CatalogRule, hit: OfCatalog['hit'] & { readonly data: object }): Finding {
  const found = finding(rule, hit.at, hit.data, hit.related)
  return {
    ...found,
    subject: subjectOf(hit.about),
    data: { package: hit.about[0] ?? '', ...found.data },
  }
}

export function placeOf(place: BlobPlace, mark: Mark = place): Location {
  return { file: place.file, line: mark.line, column: mark.column }
}
