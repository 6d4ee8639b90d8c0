// Collects findings: sorts each rule's first ones and counts the rest, because a file can break a rule a million times.
import { type Finding, type Location, compareFindings, compareLocations, type Severity } from './finding.ts'
import { createFinding, type AnyFindingRule, type FindingRule } from './rule.ts'

interface LimitedFindings {
  readonly shown: readonly Finding[]
  /** The number of omitted findings by rule ID, in the order of the rules' first findings. */
  readonly more: ReadonlyMap<string, number>
}

const severitiesMostSevereFirst: readonly Severity[] = ['error', 'warning', 'info']

/** GitHub code scanning shows this many results per run. The largest public catalogs have about a quarter of that. */
const maxFindingsPerRule = 5000

export class FindingList {
  private readonly options: FindingListOptions
  private readonly byRule = new Map<string, LimitedRuleFindings>()

  /**
   * Keeps `most` findings of each rule. If findings have the same text and location, keeps one for each `identity`, which is
   * the subject by default.
   */
  constructor(limit = maxFindingsPerRule, identity: FindingListOptions['identity'] = getFindingSubject) {
    this.options = { maxPerRule: limit, identity }
  }

  /** Adds a finding of a rule. Renders its text only if the finding is kept. */
  add<Data extends object>(
    rule: FindingRule<Data>,
    at: Location | undefined,
    data: Data,
    related?: Finding['related'],
  ): void {
    this.addLazily(rule, at, () => createFinding(rule, at, data, related))
  }

  /** Adds the finding of a rule at a location. Creates it only if it is kept. */
  addLazily(
    rule: Pick<AnyFindingRule, 'id' | 'severity'>,
    at: Location | undefined,
    make: () => Finding,
  ): void {
    let its = this.byRule.get(rule.id)
    if (!its) this.byRule.set(rule.id, (its = new LimitedRuleFindings(rule, this.options)))
    its.addLazily(at, make)
  }

  /** Adds existing findings. */
  addAll(found: Iterable<Finding>): void {
    for (const one of found) this.addLazily({ id: one.rule, severity: one.severity }, one.at, () => one)
  }

  /**
   * The findings in order, without duplicates. If a rule has more findings than are kept, an additional finding without a
   * location reports how many are omitted, also in its data (`leftOut`).
   */
  sorted(): Finding[] {
    return [...this.byRule.values()].flatMap((its) => its.all()).sort(compareFindings)
  }
}

interface FindingListOptions {
  readonly maxPerRule: number
  readonly identity: (found: Finding) => string
}

/** The number of omitted findings of its rule that a finding represents. 0 for nearly all findings. */
export function getOmittedFindingCount({ data }: Finding): number {
  return typeof data?.['leftOut'] === 'number' ? data['leftOut'] : 0
}

/** Keeps the first findings of one rule, which can be added in any order. */
class LimitedRuleFindings {
  private readonly rule: Pick<AnyFindingRule, 'id' | 'severity'>
  private readonly maxFindings: number
  private readonly identity: FindingListOptions['identity']
  private findings: Finding[] = []
  private leftOut = 0
  /** The last finding that is kept, once there are too many. Findings after it are not created. */
  private last: Finding | undefined

  constructor(rule: Pick<AnyFindingRule, 'id' | 'severity'>, { maxPerRule, identity }: FindingListOptions) {
    this.rule = { id: rule.id, severity: rule.severity }
    this.maxFindings = maxPerRule
    this.identity = identity
  }

  addLazily(at: Location | undefined, make: () => Finding): void {
    if (this.last && compareLocations(at, this.last.at) > 0) {
      this.leftOut++
      return
    }
    this.findings.push(make())
    // Sorts only when there are twice as many as are kept, so that each finding is sorted only a few times.
    if (this.findings.length >= 2 * this.maxFindings) this.dropExcess()
  }

  private dropExcess(): void {
    const different = removeDuplicateFindings(this.findings.sort(compareFindings), this.identity)
    this.findings = different.slice(0, this.maxFindings)
    this.leftOut += different.length - this.findings.length
    if (this.leftOut > 0) this.last = this.findings.at(-1)
  }

  all(): Finding[] {
    this.dropExcess()
    const { findings, leftOut, rule } = this
    return leftOut === 0 ? findings : [createOmittedFindingsNotice(rule, leftOut), ...findings]
  }
}

/** Removes duplicates at one location, because a bundle in two channels is checked in both. */
function removeDuplicateFindings(sorted: readonly Finding[], identity: FindingListOptions['identity']) {
  const seen = new Set<string>()
  return sorted.filter((found, index) => {
    const before = sorted[index - 1]
    const after = sorted[index + 1]
    if (!before || compareFindings(before, found) !== 0) {
      seen.clear()
      if (!after || compareFindings(found, after) !== 0) return true
    }
    const its = identity(found)
    return !seen.has(its) && seen.add(its)
  })
}

const getFindingSubject = ({ subject = '' }: Finding): string => subject

function createOmittedFindingsNotice(
  { id, severity }: Pick<AnyFindingRule, 'id' | 'severity'>,
  omitted: number,
): Finding {
  return {
    rule: id,
    severity,
    what: `${omitted} more ${omitted === 1 ? 'finding for this rule is' : 'findings for this rule are'} not shown`,
    why: '',
    fix: 'Start with the findings that are shown. A single cause often leads to many findings.',
    subject: '…',
    data: { leftOut: omitted },
  }
}

// Selects the most severe findings if there are too many. Keeps their order.

/**
 * Returns at most `most` findings in the given order. Prefers errors to warnings and warnings to notes, and otherwise
 * earlier findings.
 */
export function selectMostSevereFindings(
  findings: readonly Finding[],
  max: number,
): { readonly findings: readonly Finding[]; readonly leftOut: number } {
  if (findings.length <= max) return { findings, leftOut: 0 }
  const selected = new Set(
    severitiesMostSevereFirst
      .flatMap((severity) => findings.filter((finding) => finding.severity === severity))
      .slice(0, max),
  )
  return {
    findings: findings.filter((finding) => selected.has(finding)),
    leftOut: findings.length - selected.size,
  }
}

// Limits a long list of findings to all errors and the first few findings of each other rule. Keeps their order.

/** Returns every error, and at most `most` findings of each rule. */
export function limitFindingsPerRule(findings: readonly Finding[], maxPerRule: number): LimitedFindings {
  const seen = new Map<string, number>()
  const more = new Map<string, number>()
  const shown = findings.filter(({ rule, severity }) => {
    if (severity === 'error') return true
    const count = (seen.get(rule) ?? 0) + 1
    seen.set(rule, count)
    if (count > maxPerRule) more.set(rule, count - maxPerRule)
    return count <= maxPerRule
  })
  return { shown, more }
}
