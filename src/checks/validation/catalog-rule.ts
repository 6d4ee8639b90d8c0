// Rules that search a whole catalog: what they are given, what they yield, and how a hit becomes a finding. A rule never
// sees another rule, a file or a clock; its words are added in one place.
import { finding, subjectOf } from '../../findings/rule.ts'
import type { SearchingRule } from '../../findings/rule.ts'
import type { Finding, Location } from '../../findings/finding.ts'
import type { FindingList } from '../../findings/finding-list.ts'
import type { BlobPlace } from '../../catalog/facts/catalog.ts'
import type { Mark } from '../../go/mark.ts'
import type { CatalogView } from './view/catalog-view.ts'
import type { Limits } from './limits.ts'

/** The kind of rules that search a catalog. */
export interface OfCatalog {
  readonly judges: 'catalog'
  readonly given: readonly [catalog: CatalogView, limits: Limits]
  readonly hit: {
    /** Absent when the whole catalog is meant. */
    readonly at?: Location
    /**
     * Names that lead to the object, the package first ('' where there is none): `['foo', 'stable', 'foo.v1']`.
     * No lines and no counts: the same complaint in another state of the catalog has the same names.
     */
    readonly about: readonly string[]
    readonly related?: Finding['related']
  }
}

/** A rule of the profile `full`, ready to run. */
export type CatalogRule = SearchingRule<object, OfCatalog>

/** Adds what a rule finds to a list: the rule's words, the subject, and the package in the data. */
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

/** A fact's place as a finding's place. */
export function placeOf(place: BlobPlace, mark: Mark = place): Location {
  return { file: place.file, line: mark.line, column: mark.column }
}
