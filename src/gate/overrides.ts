// Applies a maintainer's /override: findings of the named rule no longer block exactly the change it was given for.
import { overridableRules } from '../checks/all-rules.ts'
import type { CheckInput, CheckOutcome } from '../checks/check.ts'
import type { Finding } from '../findings/finding.ts'
import { isYesTo, type CommandRecord } from './commands.ts'

export interface Override {
  readonly rule: string
  /** Untrusted text: escape it where it is shown. */
  readonly reason: string
  readonly by: string
}

/** The overrides in force: for the present change, by comments that still exist. The last one per rule wins. */
export function overridesOf(records: readonly CommandRecord[], check: CheckInput): readonly Override[] {
  const found = new Map<string, Override>()
  for (const record of records.toSorted((a, b) => a.comment - b.comment)) {
    const { command, outcome, override, login } = record
    if (command !== 'override' || outcome !== 'done' || override === undefined) continue
    if (overridableRules.has(override.rule) && isYesTo(record, check))
      found.set(override.rule, { ...override, by: login })
  }
  return [...found.values()]
}

/** Turns overridden errors into warnings that name the maintainer, and returns the overrides that had an effect. */
export function override(
  outcomes: readonly CheckOutcome[],
  overrides: readonly Override[],
): { readonly outcomes: readonly CheckOutcome[]; readonly used: readonly Override[] } {
  const byRule = new Map(overrides.map((each) => [each.rule, each]))
  const used = new Set<Override>()
  const passed = (found: Finding): Finding => {
    const its = byRule.get(found.rule)
    if (its === undefined || found.severity !== 'error') return found
    used.add(its)
    return { ...found, severity: 'warning', overridden: { by: its.by, reason: its.reason } }
  }
  const changed = outcomes.map((outcome) => ({ ...outcome, findings: outcome.findings.map(passed) }))
  return used.size === 0
    ? { outcomes, used: [] }
    : { outcomes: changed, used: overrides.filter((each) => used.has(each)) }
}

/**
 * Findings minus those `overridden` in one of the pull requests that merge together. Ignores places, because earlier
 * merges move them.
 */
export function notLetPass(findings: readonly Finding[], overridden: readonly Finding[]): readonly Finding[] {
  const saying = ({ rule, subject, what }: Finding) => JSON.stringify([rule, subject, what])
  const passed = new Set(overridden.map(saying))
  return findings.filter((found) => !passed.has(saying(found)))
}
