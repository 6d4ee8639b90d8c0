// Applies the recorded commands to the current state of a pull request: approvals, holds, merges, and overrides.
import { parseCommandFromComment, type CommandName, type SlashCommand } from '../pull-request/command.ts'
import type { CommitSha, UserId } from '../pull-request/ids.ts'
import type { PullComment, PullSnapshot } from '../pull-request/snapshot.ts'
import type { Approval, CheckInput, CheckOutcome } from '../checks/check.ts'
import { allRules, overridableRuleIds } from '../checks/all-rules.ts'
import { getApprovalCoverageOfChange } from '../checks/ownership/ownership-context.ts'
import { isChangeCoveredByApproval, type ApprovalCoverage } from '../checks/ownership/approvals.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import type { FreezeKind } from './merge-freeze.ts'

/** The outcome of one command, keyed by the comment's id. */
export interface CommandRecord {
  readonly comment: number
  readonly command: CommandName | 'unclear'
  readonly user: UserId
  readonly login: string
  /**
   * `done`: took effect. `denied`: not permitted. `stale`: for another state of the pull request. `unclear`: not understood.
   */
  readonly outcome: 'done' | 'denied' | 'stale' | 'unclear'
  readonly head: CommitSha
  readonly baseRef: string
  readonly epoch: number
  /** For approvals: the digest of the configuration. `covers` is the effect of the change (see getApprovalCoverageOfChange()). */
  readonly config?: string
  readonly covers?: ApprovalCoverage
  /** For `freeze` and `thaw`. */
  readonly stop?: FreezeCommand
  readonly override?: OverrideCommand
  readonly rollback?: RollbackCommand
}

export interface OverrideCommand {
  readonly rule: string
  /** Untrusted text: escape it where it is shown. */
  readonly reason: string
}

export interface RollbackCommand {
  /** Untrusted text: escape it where it is shown. */
  readonly words: string
  readonly image?: string
  readonly tag?: string
  readonly digest?: string
  readonly why?: string
}

export interface FreezeCommand {
  /** Absent for every branch. */
  readonly branch?: string
  /** Untrusted text: escape it where it is shown. */
  readonly reason: string
  /** The kinds of freezes to end. A freeze requested by an audit ends only if it is named. */
  readonly kinds: readonly FreezeKind[]
}

/**
 * Approvals by command. Deleted or edited comments do not count. The check handles approvers who later request changes.
 */
export function findApprovalsFromCommands(
  records: readonly CommandRecord[],
  comments: readonly PullComment[],
): Approval[] {
  const currentCommands = parseCommandsInUneditedComments(comments)
  return records
    .filter(
      ({ command, outcome, comment }) =>
        command === 'approve' && outcome === 'done' && currentCommands.get(comment)?.name === 'approve',
    )
    .map(({ user, login, head, baseRef, epoch, config, covers }) => ({
      user,
      login,
      head,
      baseRef,
      epoch,
      source: 'command',
      ...(config !== undefined && { config }),
      ...(covers && { covers }),
    }))
}

export interface ActivePullHold {
  readonly user: UserId
  readonly login: string
  /** The hold was removed, but for another state of the change. */
  readonly isBack: boolean
}

/**
 * Who put the pull request on hold first. A hold survives new pushes, but its removal counts for one state only. `check`
 * is undefined if nothing can be compared, as in a conflict. Then any removal counts, because nothing is merged.
 */
export const findActivePullHold = (
  records: readonly CommandRecord[],
  check: CheckInput | undefined,
): ActivePullHold | undefined => listActivePullHolds(records, check)[0]

/** In order. An /unhold removes all earlier holds. */
export function listActivePullHolds(
  records: readonly CommandRecord[],
  check: CheckInput | undefined,
): readonly ActivePullHold[] {
  const done = records.filter(({ outcome }) => outcome === 'done').toSorted((a, b) => a.comment - b.comment)
  const removals = done.filter(({ command }) => command === 'unhold')
  const last = removals.findLast((record) => check === undefined || isCommandStillValid(record, check))
  return done
    .filter(({ command, comment }) => command === 'hold' && comment > (last?.comment ?? 0))
    .map(({ user, login, comment }) => ({
      user,
      login,
      isBack: removals.some((removal) => removal.comment > comment),
    }))
}

/** Builds a preview or runs a cluster test, as long as its user has the permission and the head is the same. */
export const isRunCommand = ({ command }: CommandRecord): boolean =>
  command === 'preview' || command === 'test-install'

export const isExecutedOnHead = (
  record: CommandRecord,
  { head }: Pick<PullSnapshot, 'head'>,
  epoch: number,
): boolean => record.outcome === 'done' && record.head === head && record.epoch === epoch

/** The last time that a command took effect on this head. */
export function findExecutedCommand(
  records: readonly CommandRecord[],
  command: CommandName,
  snapshot: Pick<PullSnapshot, 'head'>,
  epoch: number,
): CommandRecord | undefined {
  return records.findLast((record) => record.command === command && isExecutedOnHead(record, snapshot, epoch))
}

/** Who requested the merge of this exact state. */
export function findMergeCommand(records: readonly CommandRecord[], check: CheckInput) {
  return records.find(
    (record) => record.command === 'merge' && record.outcome === 'done' && isCommandStillValid(record, check),
  )
}

/**
 * The commands that comments still contain, by comment id. Edited comments contain none. GitHub's times hide an edit
 * within the same second, so callers compare the text.
 */
function parseCommandsInUneditedComments(
  comments: readonly PullComment[],
): ReadonlyMap<number, SlashCommand> {
  const commands = new Map<number, SlashCommand>()
  for (const { id, body, createdAt, updatedAt } of comments) {
    const parsed = createdAt === updatedAt ? parseCommandFromComment(body) : undefined
    if (parsed?.kind === 'command') commands.set(id, parsed.command)
  }
  return commands
}

/** Whether the approved state is still the current one, and the comment still contains the command. */
export function isCommandStillValid(record: CommandRecord, check: CheckInput): boolean {
  const { snapshot, epoch = 0 } = check
  return (
    record.head === snapshot.head &&
    record.baseRef === snapshot.baseRef &&
    record.epoch === epoch &&
    isCommandStillInComment(record, parseCommandsInUneditedComments(snapshot.comments).get(record.comment)) &&
    record.covers !== undefined &&
    isChangeCoveredByApproval(getApprovalCoverageOfChange(check), record.covers)
  )
}

/** Whether a comment still contains the recorded command with the same text. */
function isCommandStillInComment({ command, override }: CommandRecord, current: SlashCommand | undefined) {
  if (current?.name !== command) return false
  if (override === undefined) return command !== 'override'
  const parsed = parseOverrideCommand(current)
  return typeof parsed !== 'string' && parsed.rule === override.rule && parsed.reason === override.reason
}

const overrideArgumentsPattern = /^(?<rule>[a-z][a-z0-9-]*)[ \t]+because[ \t]+(?<reason>.*[\p{L}\p{N}].*)$/u
/** Limit for the comment, the merge message and the records, in characters. */
const maxOverrideReasonLength = 300

/** The requested override, or why it is not allowed. */
export function parseOverrideCommand({ words = '' }: SlashCommand): OverrideCommand | string {
  const { rule, reason } = overrideArgumentsPattern.exec(words)?.groups ?? {}
  if (rule === undefined || reason === undefined) return 'use the form /override RULE because REASON'
  if (!knownRuleIds.has(rule)) return 'this rule does not exist'
  if (!overridableRuleIds.has(rule)) return 'this rule cannot be overridden'
  if (reason.length > maxOverrideReasonLength)
    return `the reason is longer than ${maxOverrideReasonLength} characters`
  return { rule, reason }
}

const knownRuleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

export interface RuleOverride {
  readonly rule: string
  /** Untrusted text: escape it for display. */
  readonly reason: string
  readonly by: string
}

/**
 * Applies a maintainer's /override: findings of the named rule no longer block the exact change for which it was given.
 * The active overrides: those for the current change, from comments that still exist. The last one per rule wins.
 */
export function findActiveRuleOverrides(
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
export function applyRuleOverrides(
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
