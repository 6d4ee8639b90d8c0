// Collects the problems of a conversion as findings, and opm's message for the first.
import type { Finding, Location } from '../../findings/finding.ts'
import type { FindingList } from '../../findings/finding-list.ts'
import type { FindingRule } from '../../findings/rule.ts'

export class ProblemCollector {
  private readonly findings: FindingList
  private firstMessage: string | undefined

  constructor(findings: FindingList) {
    this.findings = findings
  }

  /** opm's message for the first problem. */
  get message(): string | undefined {
    return this.firstMessage
  }

  /** Call this in opm's order. `message` is undefined if opm reports the problem only in its error tree. */
  add<Data extends object>(
    message: (() => string) | undefined,
    rule: FindingRule<Data>,
    at: Location,
    data: Data,
    related?: Finding['related'],
  ): void {
    this.firstMessage ??= message?.()
    this.findings.add(rule, at, data, related)
  }
}
