// What a maintainer's /override does to findings: those of the named rule count no more, for exactly the change that it was
// given for. What nobody may override stays, whatever is on record.
import { overridableRules } from '../checks/all-rules.ts'
import type { CheckInput, CheckOutcome } from '../checks/check.ts'
import type { Finding } from '../findings/finding.ts'
import { isYesTo, type CommandRecord } from './commands.ts'

export interface Override {
  readonly rule: string
  /** Anybody's words: escaped where they are shown. */
  readonly reason: string
  readonly by: string
}

/** The overrides in force: for what the change does now, by comments that still say so. Of several of one rule the last. */
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

/** Outcomes in which overridden errors are warnings that say who let them pass, and the overrides that did anything. */
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
 * Findings without those that were `overridden` in one of several pull requests that land together: the very same is let
 * pass of the whole, and nothing that is said otherwise. Places do not count: they move when others are merged before.
 */
export function notLetPass(findings: readonly Finding[], overridden: readonly Finding[]): readonly Finding[] {
  const saying = ({ rule, subject, what }: Finding) => JSON.stringify([rule, subject, what])
  const passed = new Set(overridden.map(saying))
  return findings.filter((found) => !passed.has(saying(found)))
}
