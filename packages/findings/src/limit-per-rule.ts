// Limits a long list of findings to all errors and the first few findings of each other rule. Keeps their order.
import type { Finding } from './finding.ts'

export interface LimitedFindings {
  readonly shown: readonly Finding[]
  /** The number of omitted findings by rule ID, in the order of the rules' first findings. */
  readonly more: ReadonlyMap<string, number>
}

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
