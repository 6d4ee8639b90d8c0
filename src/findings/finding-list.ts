// Findings as they are found. Of each rule the first are kept, in the order of findings, and the rest are counted: a
// file can break one rule a million times, and nobody reads them all. Never drops one without counting it.
import type { Finding, Location } from './finding.ts'
import { compareFindings, comparePlaces } from './finding.ts'
import { finding } from './rule.ts'
import type { AnyRule, Rule } from './rule.ts'

/** GitHub's code scanning shows as many results of a run; the largest public catalogs have about a quarter of it. */
const mostOfRule = 5000

export class FindingList {
  private readonly most: number
  private readonly byRule = new Map<string, FirstFindings>()

  /** Keeps `most` findings of each rule. */
  constructor(most = mostOfRule) {
    this.most = most
  }

  /** Adds what a rule found. Its words are made only where it is among the first. */
  add<Data extends object>(
    rule: Rule<Data>,
    at: Location | undefined,
    data: Data,
    related?: Finding['related'],
  ): void {
    this.offer(rule, at, () => finding(rule, at, data, related))
  }

  /** Adds the finding of a rule at a place; it is made only where it is among the first. */
  offer(rule: Pick<AnyRule, 'id' | 'severity'>, at: Location | undefined, make: () => Finding): void {
    let its = this.byRule.get(rule.id)
    if (!its) this.byRule.set(rule.id, (its = new FirstFindings(rule, this.most)))
    its.offer(at, make)
  }

  /** Adds findings that are made already. */
  take(found: Iterable<Finding>): void {
    for (const one of found) this.offer({ id: one.rule, severity: one.severity }, one.at, () => one)
  }

  /**
   * The findings in their order, each once. Where a rule found more than are kept, one without a place says how many,
   * also in its data (`leftOut`).
   */
  sorted(): Finding[] {
    return [...this.byRule.values()].flatMap((its) => its.all()).sort(compareFindings)
  }
}

/** How many findings of its rule a finding stands for that are not listed: 0 for nearly all. */
export function leftOutBy({ data }: Finding): number {
  return typeof data?.['leftOut'] === 'number' ? data['leftOut'] : 0
}

/** The first findings of one rule, in whatever order they come. */
class FirstFindings {
  private readonly rule: Pick<AnyRule, 'id' | 'severity'>
  private readonly most: number
  private kept: Finding[] = []
  private leftOut = 0
  /** The last that is kept, once there are too many: what is behind it is not even made. */
  private last: Finding | undefined

  constructor(rule: Pick<AnyRule, 'id' | 'severity'>, most: number) {
    this.rule = { id: rule.id, severity: rule.severity }
    this.most = most
  }

  offer(at: Location | undefined, make: () => Finding): void {
    if (this.last && comparePlaces(at, this.last.at) > 0) {
      this.leftOut++
      return
    }
    this.kept.push(make())
    // Sorted when there are twice as many, so that each is sorted a few times only.
    if (this.kept.length >= 2 * this.most) this.cut()
  }

  private cut(): void {
    const sorted = this.kept.sort(compareFindings)
    const different = sorted.filter((found, index) => index === 0 || !isSame(found, sorted[index - 1]))
    this.kept = different.slice(0, this.most)
    this.leftOut += different.length - this.kept.length
    if (this.leftOut > 0) this.last = this.kept.at(-1)
  }

  all(): Finding[] {
    this.cut()
    const { kept, leftOut, rule } = this
    return leftOut === 0 ? kept : [leftOutFinding(rule, leftOut), ...kept]
  }
}

/** What is said twice at one place is one finding: a bundle in two channels is looked at in both. */
function isSame(a: Finding, b: Finding | undefined): boolean {
  return b !== undefined && a.subject === b.subject && compareFindings(a, b) === 0
}

function leftOutFinding({ id, severity }: Pick<AnyRule, 'id' | 'severity'>, leftOut: number): Finding {
  return {
    rule: id,
    severity,
    what: `${leftOut} more ${leftOut === 1 ? 'finding of this rule is' : 'findings of this rule are'} not listed`,
    why: '',
    fix: 'Correct the listed ones first; one cause often has many effects.',
    subject: '…',
    data: { leftOut },
  }
}
