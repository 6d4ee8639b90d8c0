// Applies a maintainer's /override: findings of the named rule no longer block the exact change for which it was given.
import { overridableRuleIds } from '../checks/all-rules.ts'
import type { CheckInput, CheckOutcome } from '../checks/check.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { isCommandStillValid, type CommandRecord } from './commands.ts'

export interface RuleOverride {
  readonly rule: string
  /** Untrusted text: escape it for display. */
  readonly reason: string
  readonly by: string
}

/** The active overrides: those for the current change, from comments that still exist. The last one per rule wins. */
export function findActiveOverrides(
  records: readonly CommandRecord[],
  check: CheckInput,
): readonly RuleOverride[] {
  const found = new Map<string, RuleOverride>()
  for (const record of records.toSorted((a, b) => a.comment - b.comment)) {
    const { command, outcome, override, login } = record
    if (command !== 'override' || outcome !== 'done' || override === undefined) continue
    if (overridableRuleIds.has(override.rule) && isCommandStillValid(record, check))
      found.set(override.rule, { ...override, by: login })
  }
  return [...found.values()]
}

/** Turns overridden errors into warnings that name the maintainer. Also returns the overrides that had an effect. */
export function applyOverrides(
  outcomes: readonly CheckOutcome[],
  overrides: readonly RuleOverride[],
): { readonly outcomes: readonly CheckOutcome[]; readonly used: readonly RuleOverride[] } {
  const byRule = new Map(overrides.map((each) => [each.rule, each]))
  const used = new Set<RuleOverride>()
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
 * Findings except those `overridden` in one of the pull requests that merge together. Ignores line numbers, because
 * earlier merges shift them.
 */
export function excludeOverriddenFindings(
  findings: readonly Finding[],
  overridden: readonly Finding[],
): readonly Finding[] {
  const toFindingKey = ({ rule, subject, what }: Finding) => JSON.stringify([rule, subject, what])
  const passed = new Set(overridden.map(toFindingKey))
  return findings.filter((found) => !passed.has(toFindingKey(found)))
}
