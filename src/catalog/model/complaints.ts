// The problems of a conversion: what we say of each, and what opm says of the first, where it stops.
import type { Finding, Location } from '../../findings/finding.ts'
import type { FindingList } from '../../findings/finding-list.ts'
import type { Rule } from '../../findings/rule.ts'

export class Complaints {
  private readonly findings: FindingList
  private firstMessage: string | undefined

  /** Problems become findings of the list. */
  constructor(findings: FindingList) {
    this.findings = findings
  }

  /** opm's text for the first problem that it notices here. */
  get message(): string | undefined {
    return this.firstMessage
  }

  /** In opm's order. `message` makes its text; it is undefined where opm notices only in its tree of errors. */
  add<Data extends object>(
    message: (() => string) | undefined,
    rule: Rule<Data>,
    at: Location,
    data: Data,
    related?: Finding['related'],
  ): void {
    this.firstMessage ??= message?.()
    this.findings.add(rule, at, data, related)
  }
}
