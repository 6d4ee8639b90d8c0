// A rule: one sentence inside a check. It owns its id, its default severity, what it judges and its words; its page and
// its examples are found by its id. A finding is made from it, so no renderer ever invents a sentence.
import type { CheckId } from './checks.ts'
import type { Finding, Location, Severity, FindingText } from './finding.ts'
import type { RuleSuite } from './suites.ts'

/**
 * What a rule judges, and so what its examples in `fixtures/rules/<id>/` are: the directory of a catalog, the files of
 * a bundle, or a pull request as the trees of its base and its result.
 */
export type RuleSubject = 'catalog' | 'bundle' | 'pull request'

export interface FindingRule<Data = never> {
  /** Named by the bad pattern, in kebab-case, so that "allow two-heads" reads well. Never reused. */
  readonly id: string
  readonly check: CheckId
  readonly judges: RuleSubject
  readonly severity: Severity
  /** The release of catalog-bot that brought it. */
  readonly since: string
  /** One sentence, without a full stop: what the rule demands. */
  readonly title: string
  /** The configuration has no switch for it: opm refuses a catalog that breaks it. */
  readonly fixed?: true
  /**
   * A maintainer may let one pull request pass in spite of it, with /override and a reason. Absent: nobody may. That is so
   * for what opm refuses, for who may change what, and for what the world says of an image: none of it is ours to waive.
   */
  readonly overridable?: true
  /** It needs an answer of a registry or of GitHub. */
  readonly network?: true
  /**
   * Told of bundles that a pull request adds. Of those that are published already, only where the configuration gives the
   * rule a severity: what they require was decided on long ago, and mostly another catalog has it.
   */
  readonly ofNewBundles?: true
  /** Silent unless this suite, or a severity in the configuration, asks for it. */
  readonly suite?: RuleSuite
  /** Names a severity where this hit does less harm than the rule's others. */
  format(data: Data): FindingText & { readonly severity?: Severity }
}

/** What rules of one kind are given to search, and what a hit says beside its data: where and about what. */
export interface RuleSearch {
  readonly judges: RuleSubject
  readonly given: readonly unknown[]
  readonly hit: object
}

/** A rule that searches by itself. One without `find` is words for code that decides elsewhere. */
export interface SearchingRule<Data extends object, Kind extends RuleSearch> extends FindingRule<Data> {
  readonly judges: Kind['judges']
  find(...given: Kind['given']): Iterable<Kind['hit'] & { readonly data: Data }>
}

/** A rule whose `data` type is not looked at: for lists of all rules (pages, switches, tests). */
export type AnyRule = Omit<FindingRule, 'format'>

/**
 * Defines a rule, whatever it judges. The rule is the object that is given: nothing is registered, and nothing runs.
 * With a second type, one of the kinds of `Search`, the rule has a `find`.
 */
export function defineRule<Data extends object>(rule: FindingRule<Data>): FindingRule<Data>
export function defineRule<Data extends object, Kind extends RuleSearch>(
  rule: SearchingRule<Data, Kind>,
): SearchingRule<Data, Kind>
export function defineRule<Data extends object>(rule: FindingRule<Data>): FindingRule<Data> {
  return rule
}

/** Makes a finding of `rule` at a place (or of the whole, where `at` is undefined). */
export function createFinding<Data extends object>(
  rule: FindingRule<Data>,
  at: Location | undefined,
  data: Data,
  related?: Finding['related'],
): Finding {
  const { what, why, fix, severity = rule.severity } = rule.format(data)
  return {
    rule: rule.id,
    severity,
    what: truncateText(what),
    why: truncateText(why),
    fix: truncateText(fix),
    ...(at && { at }),
    ...(related && related.length > 0 && { related }),
    data: data as Readonly<Record<string, unknown>>,
  }
}

/**
 * What a finding is about, for comparing findings of two states of a catalog: names from the outermost on, of any
 * characters. No lines and no counts belong here, which change without the complaint.
 */
export function formatSubject(names: readonly string[]): string {
  return names.map((name) => encodeURIComponent(name.toWellFormed())).join('/')
}

/** A name can be as long as a file; nobody reads more of it than this, and every page would carry it all. */
const maxTextLength = 5000

function truncateText(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength).toWellFormed()}…`
}
