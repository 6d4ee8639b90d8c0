// Collects the problems of a conversion as findings, and opm's message for the first.
import type { Finding, Location } from '@catalog-bot/findings/finding'
import type { FindingList } from '@catalog-bot/findings/finding-list'
import type { FindingRule } from '@catalog-bot/findings/rule'

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
