// What a person reads of many findings: all errors, and the first few of each other rule. Never changes their order.
import type { Finding } from './finding.ts'

export interface LimitedFindings {
  readonly shown: readonly Finding[]
  /** How many more there are of a rule, by its id, in the order of the rules' first findings. */
  readonly more: ReadonlyMap<string, number>
}

/** At most `most` findings of each rule, and every error. */
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
