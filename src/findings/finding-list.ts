// Findings as they are found. Of each rule the first are kept, in the order of findings, and the rest are counted: a
// file can break one rule a million times, and nobody reads them all. Never drops one without counting it.
import type { Finding, Location } from './finding.ts'
import { compareFindings, compareLocations } from './finding.ts'
import { createFinding } from './rule.ts'
import type { AnyRule, FindingRule } from './rule.ts'

/** GitHub's code scanning shows as many results of a run; the largest public catalogs have about a quarter of it. */
const maxFindingsPerRule = 5000

export class FindingList {
  private readonly options: FindingListOptions
  private readonly byRule = new Map<string, FirstFindings>()

  /**
   * Keeps `most` findings of each rule. Of findings with the same words at one place each `identity` is kept once: by
   * default each subject.
   */
  constructor(most = maxFindingsPerRule, identity: FindingListOptions['identity'] = getSubject) {
    this.options = { maxPerRule: most, identity }
  }

  /** Adds what a rule found. Its words are made only where it is among the first. */
  add<Data extends object>(
    rule: FindingRule<Data>,
    at: Location | undefined,
    data: Data,
    related?: Finding['related'],
  ): void {
    this.addLazily(rule, at, () => createFinding(rule, at, data, related))
  }

  /** Adds the finding of a rule at a place; it is made only where it is among the first. */
  addLazily(rule: Pick<AnyRule, 'id' | 'severity'>, at: Location | undefined, make: () => Finding): void {
    let its = this.byRule.get(rule.id)
    if (!its) this.byRule.set(rule.id, (its = new FirstFindings(rule, this.options)))
    its.addLazily(at, make)
  }

  /** Adds findings that are made already. */
  addAll(found: Iterable<Finding>): void {
    for (const one of found) this.addLazily({ id: one.rule, severity: one.severity }, one.at, () => one)
  }

  /**
   * The findings in their order, each once. Where a rule found more than are kept, one without a place says how many,
   * also in its data (`leftOut`).
   */
  sorted(): Finding[] {
    return [...this.byRule.values()].flatMap((its) => its.all()).sort(compareFindings)
  }
}

interface FindingListOptions {
  readonly maxPerRule: number
  readonly identity: (found: Finding) => string
}

/** How many findings of its rule a finding stands for that are not listed: 0 for nearly all. */
export function getOmittedCount({ data }: Finding): number {
  return typeof data?.['leftOut'] === 'number' ? data['leftOut'] : 0
}

/** The first findings of one rule, in whatever order they come. */
class FirstFindings {
  private readonly rule: Pick<AnyRule, 'id' | 'severity'>
  private readonly maxFindings: number
  private readonly identity: FindingListOptions['identity']
  private findings: Finding[] = []
  private leftOut = 0
  /** The last that is kept, once there are too many: what is behind it is not even made. */
  private last: Finding | undefined

  constructor(rule: Pick<AnyRule, 'id' | 'severity'>, { maxPerRule, identity }: FindingListOptions) {
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
    // Sorted when there are twice as many, so that each is sorted a few times only.
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
    return leftOut === 0 ? findings : [toOmittedFinding(rule, leftOut), ...findings]
  }
}

/** What is said twice at one place is one finding: a bundle in two channels is looked at in both. */
function removeDuplicateFindings(
  sorted: readonly Finding[],
  identity: FindingListOptions['identity'],
): Finding[] {
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

const getSubject = ({ subject = '' }: Finding): string => subject

function toOmittedFinding({ id, severity }: Pick<AnyRule, 'id' | 'severity'>, omitted: number): Finding {
  return {
    rule: id,
    severity,
    what: `${omitted} more ${omitted === 1 ? 'finding of this rule is' : 'findings of this rule are'} not listed`,
    why: '',
    fix: 'Fix the listed findings first: one cause often has many effects.',
    subject: '…',
    data: { leftOut: omitted },
  }
}
