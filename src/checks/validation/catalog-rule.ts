// The one shape of our own rules: a sentence, a severity, words, and `find` over a whole catalog.
// A rule never sees another rule, a file or a clock; it yields hits, and its words are added in one place.
import { finding, subjectOf } from '../../findings/rule.ts'
import type { AnyRule, Rule } from '../../findings/rule.ts'
import type { Finding, Location } from '../../findings/finding.ts'
import type { FindingList } from '../../findings/finding-list.ts'
import type { BlobPlace, Mark } from '../../catalog/catalog.ts'
import type { CatalogView } from './catalog-view.ts'
import type { Limits } from './limits.ts'

/** A rule of the profile `full`, ready to run. */
export interface CatalogRule extends AnyRule {
  readonly check: 'validation'
  /** The release of catalog-bot that brought it. */
  readonly since: string
  /** Adds what it finds to a list. */
  gather(catalog: CatalogView, limits: Limits, into: FindingList): void
}

/** One place where a rule is broken. */
export interface Hit<Data extends object> {
  /** Absent when the whole catalog is meant. */
  readonly at?: Location
  /**
   * Names that lead to the object, the package first ('' where there is none): `['foo', 'stable', 'foo.v1']`.
   * No lines and no counts: the same complaint in another state of the catalog has the same names.
   */
  readonly about: readonly string[]
  readonly data: Data
  readonly related?: Finding['related']
}

/** What an author of a rule writes. */
export interface CatalogRuleText<Data extends object> extends Omit<Rule<Data>, 'check'> {
  readonly since: string
  find(catalog: CatalogView, limits: Limits): Iterable<Hit<Data>>
}

/** Makes a rule: every hit becomes a finding with the rule's words, its subject, and the package in its data. */
export function catalogRule<Data extends object>(text: CatalogRuleText<Data>): CatalogRule {
  const rule: Rule<Data> = {
    id: text.id,
    check: 'validation',
    severity: text.severity,
    title: text.title,
    say: (data) => text.say(data),
  }
  return {
    id: text.id,
    check: 'validation',
    severity: text.severity,
    title: text.title,
    since: text.since,
    gather(catalog, limits, into) {
      for (const hit of text.find(catalog, limits)) into.offer(rule, hit.at, () => findingOf(rule, hit))
    },
  }
}

function findingOf<Data extends object>(rule: Rule<Data>, hit: Hit<Data>): Finding {
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
