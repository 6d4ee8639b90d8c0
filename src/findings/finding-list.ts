// Findings as they are found. Of each rule the first are kept, in the order of findings, and the rest are counted: a
// file can break one rule a million times, and nobody reads them all. Never drops one without counting it.
import type { Finding, Location } from './finding.ts'
import { compareFindings, comparePlaces } from './finding.ts'
import { finding } from './rule.ts'
import type { AnyRule, Rule } from './rule.ts'

/** GitHub's code scanning shows as many results of a run; the largest public catalogs have about a quarter of it. */
const mostOfRule = 5000

export class FindingList {
  private readonly kept: Kept
  private readonly byRule = new Map<string, FirstFindings>()

  /**
   * Keeps `most` findings of each rule. Of findings with the same words at one place each `identity` is kept once: by
   * default each subject.
   */
  constructor(most = mostOfRule, identity: Kept['identity'] = subjectIn) {
    this.kept = { most, identity }
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
    if (!its) this.byRule.set(rule.id, (its = new FirstFindings(rule, this.kept)))
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

interface Kept {
  readonly most: number
  readonly identity: (found: Finding) => string
}

/** How many findings of its rule a finding stands for that are not listed: 0 for nearly all. */
export function leftOutBy({ data }: Finding): number {
  return typeof data?.['leftOut'] === 'number' ? data['leftOut'] : 0
}

/** The first findings of one rule, in whatever order they come. */
class FirstFindings {
  private readonly rule: Pick<AnyRule, 'id' | 'severity'>
  private readonly most: number
  private readonly identity: Kept['identity']
  private kept: Finding[] = []
  private leftOut = 0
  /** The last that is kept, once there are too many: what is behind it is not even made. */
  private last: Finding | undefined

  constructor(rule: Pick<AnyRule, 'id' | 'severity'>, { most, identity }: Kept) {
    this.rule = { id: rule.id, severity: rule.severity }
    this.most = most
    this.identity = identity
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
    const different = withoutRepeats(this.kept.sort(compareFindings), this.identity)
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
function withoutRepeats(sorted: readonly Finding[], identity: Kept['identity']): Finding[] {
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

const subjectIn = ({ subject = '' }: Finding): string => subject

function leftOutFinding({ id, severity }: Pick<AnyRule, 'id' | 'severity'>, leftOut: number): Finding {
  return {
    rule: id,
    severity,
    what: `${leftOut} more ${leftOut === 1 ? 'finding of this rule is' : 'findings of this rule are'} not listed`,
    why: '',
    fix: 'Fix the listed findings first: one cause often has many effects.',
    subject: '…',
    data: { leftOut },
  }
}
