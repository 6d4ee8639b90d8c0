// A rule is part of a check. It defines an ID, a default severity, what it applies to, and the text of its findings, so that
// renderers never write text. Its page and its examples are found by its ID.
import type { CheckId } from './checks.ts'
import type { Finding, Location, Severity } from './finding.ts'
import { truncateText } from './printable.ts'

export const ruleSuiteNames = [
  'operatorhub',
  'capabilities',
  'categories',
  'good-practices',
  'deprecated-apis',
  'community',
  'multiarch',
  'objects',
  'openshift',
] as const

/** Named sets of rules that are enabled on request, modeled on the optional validators of `operator-sdk bundle validate`. */
export type RuleSuite = (typeof ruleSuiteNames)[number]

/**
 * What a rule applies to. Determines the form of its examples in `fixtures/rules/<id>/`: the directory of a catalog, the files of
 * a bundle, or a pull request as the trees of its base and its result.
 */
export type RuleSubjectKind = 'catalog' | 'bundle' | 'pull request'

/** A sentence that is the same in every finding of a rule, or that contains the finding's data. */
type FindingText<Data> = string | { format(data: Data): string }['format']

export interface FindingRule<Data = never> {
  /** Names the bad pattern in kebab-case, so that "override two-heads" reads well. Never reused. */
  readonly id: string
  readonly check: CheckId
  readonly judges: RuleSubjectKind
  readonly severity: Severity
  /** The release of catalog-bot that introduced the rule. */
  readonly since: string
  /** The requirement, as one sentence without a period. */
  readonly title: string
  /** True if the configuration cannot disable the rule, because opm rejects catalogs that break it. */
  readonly fixed?: true
  /**
   * True if a maintainer can override the rule for one pull request, with /override and a reason. Absent for opm's rules, for
   * ownership, and for facts about images, which a maintainer cannot waive.
   */
  readonly overridable?: true
  /** True if the rule needs a response from a registry or GitHub. */
  readonly network?: true
  /**
   * Applies only to bundles that a pull request adds, unless the configuration sets a severity for the rule. The requirements
   * of published bundles were decided long ago, and usually another catalog provides them.
   */
  readonly ofNewBundles?: true
  /** The rule applies only if this suite is enabled, or if the configuration sets a severity for it. */
  readonly suite?: RuleSuite
  /** True for a hit that does less harm than others of the rule. */
  isWarning?(data: Data): boolean
  readonly what: FindingText<Data>
  readonly why: FindingText<Data>
  readonly fix: FindingText<Data>
}

/** The input of rules of one kind, and the location and subject that a hit contains in addition to its data. */
export interface RuleInputAndHit {
  readonly judges: RuleSubjectKind
  readonly given: readonly unknown[]
  readonly hit: object
}

/** A rule that finds its own hits. A rule without `find` only provides the text for code elsewhere. */
export interface FindingRuleWithFinder<
  Data extends object,
  Kind extends RuleInputAndHit,
> extends FindingRule<Data> {
  readonly judges: Kind['judges']
  find(...given: Kind['given']): Iterable<Kind['hit'] & { readonly data: Data }>
}

/** A rule without its `data` type, for lists of all rules (pages, settings, tests). */
export type AnyFindingRule = Omit<FindingRule, 'isWarning' | 'what' | 'why' | 'fix'>

/**
 * Defines a rule of any kind. Returns its argument, without registering or running anything. With a second type parameter, one of
 * the kinds of RuleInputAndHit, the rule has a `find`.
 */
export function defineRule<Data extends object>(rule: FindingRule<Data>): FindingRule<Data>
export function defineRule<Data extends object, Kind extends RuleInputAndHit>(
  rule: FindingRuleWithFinder<Data, Kind>,
): FindingRuleWithFinder<Data, Kind>
export function defineRule<Data extends object>(rule: FindingRule<Data>): FindingRule<Data> {
  return rule
}

type RuleWithDefaults<Rule, Defaults> = Omit<Rule, keyof Defaults> &
  Partial<Pick<Rule, Extract<keyof Rule, keyof Defaults>>>

/** A `defineRule` that adds `Defaults`. */
export interface RuleDefiner<Defaults, Kind extends RuleInputAndHit = RuleInputAndHit> {
  <Data extends object>(
    rule: RuleWithDefaults<FindingRuleWithFinder<Data, Kind>, Defaults>,
  ): FindingRuleWithFinder<Data, Kind>
  <Data extends object>(rule: RuleWithDefaults<FindingRule<Data>, Defaults>): FindingRule<Data>
}

/** Returns a `defineRule` for rules of one kind. A rule can replace the defaults. */
export function createRuleDefiner<
  Defaults extends Partial<AnyFindingRule>,
  Kind extends RuleInputAndHit = RuleInputAndHit,
>(defaults: Defaults): RuleDefiner<Defaults, Kind> {
  return (rule: object) => ({ ...defaults, ...rule }) as never
}

type ExportedRule<Module> = Module extends unknown ? Extract<Module[keyof Module], AnyFindingRule> : never

/** The rules that `modules` export, sorted by ID. */
export function collectRules<Module extends object>(modules: readonly Module[]): ExportedRule<Module>[] {
  return modules
    .flatMap((exported) => Object.values(exported) as readonly ExportedRule<Module>[])
    .filter((rule) => typeof rule === 'object' && 'id' in rule)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** Creates a finding of `rule` at a location, or without one if `at` is undefined. */
export function createFinding<Data extends object>(
  rule: FindingRule<Data>,
  at: Location | undefined,
  data: Data,
  related?: Finding['related'],
): Finding {
  const format = (text: FindingText<Data>) =>
    truncateText(typeof text === 'string' ? text : text(data), maxFindingTextLength)
  return {
    rule: rule.id,
    severity: rule.isWarning?.(data) === true ? 'warning' : rule.severity,
    what: format(rule.what),
    why: format(rule.why),
    fix: format(rule.fix),
    ...(at && { at }),
    ...(related && related.length > 0 && { related }),
    data: data as Readonly<Record<string, unknown>>,
  }
}

/**
 * Builds the subject of a finding, which identifies it in two states of a catalog: names from the outermost to the innermost, with
 * any characters. Must not contain lines or counts, which can change while the problem stays the same.
 */
export function formatFindingSubject(names: readonly string[]): string {
  return names.map((name) => encodeURIComponent(name.toWellFormed())).join('/')
}

/** Names can be as long as a file. Longer ones are truncated, because every page would contain them. */
const maxFindingTextLength = 5000
