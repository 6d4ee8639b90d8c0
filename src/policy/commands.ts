// Decides on comment commands. Each decision is recorded before it takes effect, so it works only once.
import { allowedUsersDescriptions, parseCommandFromComment, slashCommands } from '../pull-request/command.ts'
import type { SlashCommand, CommandName } from '../pull-request/command.ts'
import type { CommitSha } from '../pull-request/ids.ts'
import type { PullComment, GitHubAccount } from '../pull-request/snapshot.ts'
import type { CheckInput, PendingLookup } from '../checks/check.ts'
import { createCommandPermissionChecker } from '../checks/ownership/ownership.ts'
import { getApprovalCoverageOfChange } from '../checks/ownership/ownership-context.ts'
import { type PermissionCheckResult, normalizeLogin } from '../checks/ownership/principals.ts'
import { collectLookups, toPendingLookup } from '../checks/lookups.ts'
import type { LookupResults, LookupRequest } from '../checks/lookups.ts'
import {
  isCommandStillValid,
  isExecutedOnHead,
  isRunCommand,
  listActivePullHolds,
  parseOverrideCommand,
  type CommandRecord,
  type FreezeCommand,
} from './command-records.ts'
import { memoizeOnce } from '@catalog-bot/findings/memoize'

/** A head that catalog-bot's comment showed. */
export interface ReportedPullHead {
  readonly head: CommitSha
  readonly epoch: number
  /** ISO 8601 in UTC, by GitHub's clock. */
  readonly at: string
  /** The id of the change's effect. Absent in records from before comments included it. */
  readonly change?: string
}

export interface CommandEvaluationInput {
  /** The input of the checks. Its snapshot is read again before a command takes effect. */
  readonly check: CheckInput
  readonly shown: readonly ReportedPullHead[]
  /** Absent if the change is unknown, for example because of a conflict. */
  readonly change?: string
  readonly records: readonly CommandRecord[]
  /** Commands per account id in this repository within the last hour. */
  readonly recent?: ReadonlyMap<number, number>
}

export interface CommandDecision {
  readonly record: CommandRecord
  readonly reaction: '+1' | '-1' | 'eyes' | 'confused'
  /** Why the command had no effect, or what to do instead. */
  readonly answer?: string
}

/** Commands per account and hour. Enough for real use, but low enough that one account cannot block others. */
export const maxCommandsPerHour = 30

/** Also allowed on closed pull requests, because a broken catalog is often noticed only after the merge. */
const commandsAllowedOnClosedPulls: ReadonlySet<CommandName> = new Set(['rollback'])
/** They affect branches and images, so they also work if the pull request's change is unknown. */
const commandsAllowedWithoutDiff: ReadonlySet<CommandName> = new Set(['freeze', 'thaw', 'rollback'])

const commandsPreventingMerges: ReadonlySet<CommandName> = new Set(['hold', 'freeze'])

/** The questions to answer before deciding. Empty if there is no command to decide on. */
export function collectCommandLookups(
  input: CommandEvaluationInput,
  answers: LookupResults,
): readonly LookupRequest[] {
  // Collects all questions at once to save round trips to GitHub.
  return collectLookups(answers, (recording) => evaluateCommands(input, recording, { stops: false }))
}

/**
 * Decides on each unrecorded command, in comment order. Stops at the first command by an author with permissions
 * that are not known yet, because order matters. Also returns all records, with current permissions.
 */
export function decideCommands(input: CommandEvaluationInput, answers: LookupResults) {
  return evaluateCommands(input, answers, { stops: true })
}

/**
 * The records in order. A command that allows a merge or a run is denied if its user lost the permission since, and left
 * out if the permission is not known. For `/approve`, the ownership check decides about the users.
 */
function recheckRecordedPermissions(
  input: CommandEvaluationInput,
  authorisation: () => ReturnType<typeof createCommandPermissionChecker>,
) {
  const rechecked: CommandRecord[] = []
  const open: PendingLookup[] = []
  for (const record of input.records.toSorted((a, b) => a.comment - b.comment)) {
    const { command, outcome, covers, user: id, login } = record
    const isGrant = outcome === 'done' && covers !== undefined && command !== 'approve'
    const isInEffect = isRunCommand(record)
      ? isExecutedOnHead(record, input.check.snapshot, input.check.epoch ?? 0)
      : isGrant && isCommandStillValid(record, input.check)
    if (command === 'unclear' || !isInEffect) rechecked.push(record)
    else {
      const may = isCommandPermitted(command, { id, login, kind: 'user' }, input, rechecked, authorisation)
      if (may.kind === 'unknown') open.push(...may.open)
      else rechecked.push(may.kind === 'yes' ? record : { ...record, outcome: 'denied' })
    }
  }
  return { rechecked, open }
}

/** `stops`: whether to end at the first undecidable command. */
function evaluateCommands(
  input: CommandEvaluationInput,
  answers: LookupResults,
  { stops }: { stops: boolean },
) {
  const decisions: CommandDecision[] = []
  const authorisation = memoizeOnce(() => createCommandPermissionChecker(input.check, answers))
  const { rechecked, open: unanswered } = recheckRecordedPermissions(input, authorisation)
  const listRecords = () => [...rechecked, ...decisions.map(({ record }) => record)]
  const end = (open: readonly PendingLookup[]) => ({
    decisions,
    open: [...unanswered, ...open],
    records: listRecords(),
  })
  for (const { comment, author, parsed, isExcess } of findUnrecordedCommands(input)) {
    if (parsed.kind === 'unclear') {
      decisions.push({
        record: toCommandRecord(input, comment, author, 'unclear', 'unclear'),
        reaction: 'confused',
        answer: parsed.reason,
      })
      continue
    }
    const { command } = parsed
    const may = isCommandPermitted(command.name, author, input, listRecords(), authorisation)
    if (may.kind === 'unknown') {
      if (stops) return end(may.open)
      continue
    }
    if (isExcess && (may.kind === 'no' || hasOwnHold(author, command.name, input, listRecords()))) continue
    if (may.kind === 'yes') {
      const edits = answers.get({
        kind: 'comment',
        comment: comment.id,
        ...(comment.node !== undefined && { node: comment.node }),
      })
      if (edits.kind === 'edited') continue
      if (edits.kind === 'unknown') {
        const question = `whether the command in comment ${comment.id} was written by the author of the comment`
        if (stops) return end([toPendingLookup(question, edits)])
        continue
      }
    }
    if (may.kind === 'no') {
      decisions.push({
        record: toCommandRecord(input, comment, author, command.name, 'denied'),
        reaction: '-1',
        answer: `only ${allowedUsersDescriptions[slashCommands[command.name][1]]} can use this command`,
      })
      continue
    }
    const meant = resolveFreezeCommand(command, input, answers)
    if (meant.kind === 'unknown') {
      if (stops) return end(meant.open)
      continue
    }
    decisions.push(toCommandDecision(command, comment, author, input, meant.stop))
  }
  return end([])
}

/** Another hold by the same account has no effect. */
const hasOwnHold = (
  author: GitHubAccount,
  command: CommandName,
  { check }: CommandEvaluationInput,
  records: readonly CommandRecord[],
): boolean => command === 'hold' && listActivePullHolds(records, check).some(({ user }) => user === author.id)

/**
 * Users' commands that have no record yet, in order, within the hourly limit of each account. Also those beyond it that
 * prevent merges, because a merge in the meantime cannot be undone.
 */
function* findUnrecordedCommands({ check: { snapshot }, change, records, recent }: CommandEvaluationInput) {
  const known = new Set(records.map(({ comment }) => comment))
  const allowed =
    snapshot.state !== 'open'
      ? commandsAllowedOnClosedPulls
      : change === undefined
        ? commandsAllowedWithoutDiff
        : undefined
  const commandCountByAccount = new Map(recent ?? [])
  for (const comment of snapshot.comments.toSorted((a, b) => a.id - b.id)) {
    const { author } = comment
    if (known.has(comment.id) || author === null || author.kind === 'bot') continue
    // Ignore edited comments. Maintainers can edit any comment, so a year-old comment could take effect today.
    if (comment.createdAt !== comment.updatedAt) continue
    const parsed = parseCommandFromComment(comment.body)
    if (parsed.kind === 'none') continue
    if (allowed && !(parsed.kind === 'command' && allowed.has(parsed.command.name))) continue
    const count = (commandCountByAccount.get(author.id) ?? 0) + 1
    commandCountByAccount.set(author.id, count)
    const isExcess = count > maxCommandsPerHour
    const preventsMerges = parsed.kind === 'command' && commandsPreventingMerges.has(parsed.command.name)
    if (!isExcess || preventsMerges) yield { comment, author, parsed, isExcess }
  }
}

function isCommandPermitted(
  name: CommandName,
  person: GitHubAccount,
  input: CommandEvaluationInput,
  records: readonly CommandRecord[],
  authorisation: () => ReturnType<typeof createCommandPermissionChecker>,
): PermissionCheckResult {
  const account = { id: person.id, login: normalizeLogin(person) }
  const isAuthor = input.check.snapshot.author?.id === person.id
  switch (slashCommands[name][1]) {
    case 'everyone':
      return { kind: 'yes' }
    case 'participants':
      return isAuthor ? { kind: 'yes' } : authorisation().checkRights(account)
    case 'owners':
      // Authors cannot approve their own change. They only confirm who pushed the head.
      return isAuthor && name === 'approve' ? { kind: 'yes' } : authorisation().checkRights(account)
    case 'holder': {
      // Otherwise, a /hold followed by an /unhold would remove someone else's objection.
      const holds = listActivePullHolds(records, input.check)
      return holds.length > 0 && holds.every(({ user }) => user === person.id)
        ? { kind: 'yes' }
        : authorisation().checkMaintainer(account)
    }
    case 'maintainers':
      return authorisation().checkMaintainer(account)
  }
}

type FreezeCommandResolution =
  | { readonly kind: 'known'; readonly stop?: FreezeCommand | undefined }
  | { readonly kind: 'unknown'; readonly open: readonly PendingLookup[] }

const branchNamePattern = /^[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}$/

/**
 * Parses `/freeze [branch] [reason]` and `/unfreeze [branch] [audit]`. The default is the pull request's base branch;
 * `all` means every branch. The first word counts only if that branch exists. An unfreeze with an unknown branch has no
 * `stop`, so a typo cannot unfreeze another branch.
 */
function resolveFreezeCommand(
  { name, words = '' }: SlashCommand,
  { check }: CommandEvaluationInput,
  answers: LookupResults,
): FreezeCommandResolution {
  if (name !== 'freeze' && name !== 'thaw') return { kind: 'known' }
  const { baseRef } = check.snapshot
  const [first = '', ...others] = words.split(/[ \t]+/).filter((word) => word !== '')
  const isAll = first === 'all'
  const isOther =
    first !== baseRef && branchNamePattern.test(first) && !isAll && !(name === 'thaw' && first === 'audit')
  const there = isOther ? answers.get({ kind: 'branch', branch: first }) : undefined
  if (there?.kind === 'unknown')
    return { kind: 'unknown', open: [toPendingLookup(`whether the branch ${first} exists`, there)] }
  const isNamed = first === baseRef || isAll || there?.kind === 'yes'
  const target = isAll ? {} : { branch: isNamed ? first : baseRef }
  const rest = (isNamed ? others : [first, ...others]).join(' ')
  if (name === 'freeze') return { kind: 'known', stop: { ...target, reason: rest, kinds: ['frozen'] } }
  if (rest === '') return { kind: 'known', stop: { ...target, reason: '', kinds: ['frozen', 'refused'] } }
  return { kind: 'known', stop: rest === 'audit' ? { ...target, reason: '', kinds: ['audit'] } : undefined }
}

function toCommandDecision(
  command: SlashCommand,
  comment: PullComment,
  author: GitHubAccount,
  input: CommandEvaluationInput,
  stop: FreezeCommand | undefined,
): CommandDecision {
  const done = (
    reaction: CommandDecision['reaction'],
    more: Partial<CommandRecord> = {},
  ): CommandDecision => ({
    record: { ...toCommandRecord(input, comment, author, command.name, 'done'), ...more },
    reaction,
  })
  const rejected = (outcome: 'stale' | 'unclear', answer: string): CommandDecision => ({
    record: toCommandRecord(input, comment, author, outcome === 'stale' ? command.name : outcome, outcome),
    reaction: 'confused',
    answer,
  })
  switch (command.name) {
    case 'help':
    case 'recheck':
      return done('eyes')
    case 'hold':
      return done('+1')
    case 'rollback':
      return done('+1', { rollback: { words: command.words ?? '' } })
    case 'preview':
    case 'test-install': {
      const stale = findStaleCommandReason(command, comment, input)
      return stale === undefined ? done('+1') : rejected('stale', stale)
    }
    case 'freeze':
    case 'thaw':
      return stop === undefined
        ? rejected(
            'unclear',
            'this branch does not exist; use /unfreeze, /unfreeze BRANCH, or /unfreeze BRANCH audit',
          )
        : done('+1', { stop })
    case 'unhold':
    case 'approve':
    case 'override':
    case 'merge': {
      const override = command.name === 'override' ? parseOverrideCommand(command) : undefined
      if (typeof override === 'string') return rejected('unclear', override)
      const stale = findStaleCommandReason(command, comment, input)
      if (stale !== undefined) return rejected('stale', stale)
      const { configDigest } = input.check
      return done('+1', {
        ...(configDigest !== undefined && { config: configDigest }),
        covers: getApprovalCoverageOfChange(input.check),
        ...(override && { override }),
      })
    }
  }
}

/**
 * Why a command does not fit the current state; undefined if it fits. Without a commit, a command refers to the head that
 * catalog-bot had last shown when the comment was written. A given commit must be a prefix of the head, in the current
 * epoch.
 */
function findStaleCommandReason(
  command: SlashCommand,
  comment: PullComment,
  { check, shown, change }: CommandEvaluationInput,
): string | undefined {
  const { head } = check.snapshot
  const epoch = check.epoch ?? 0
  const commandText = formatCommandForCurrentHead(command, head)
  const hint = `comment "${commandText}" to use the current commit`
  // GitHub's times are in whole seconds, so a head shown in the same second may be later than the comment.
  const last = shown
    .filter(({ at }) => at < comment.createdAt)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.epoch - b.epoch))
    .at(-1)
  if (command.sha !== undefined && !head.startsWith(command.sha))
    return `the head commit is ${head.slice(0, 12)}, not ${command.sha.slice(0, 12)}; ${hint}`
  if (last === undefined)
    return `catalog-bot had not reported on any commit when this comment was written; ${hint}`
  if (last.head !== head || last.epoch !== epoch)
    return `this comment refers to commit ${last.head.slice(0, 12)}, but the pull request has changed since then; ${hint}`
  if (last.change !== change)
    return `the effect of commit ${last.head.slice(0, 12)} has changed since this comment was written; ${hint}`
  return undefined
}

function formatCommandForCurrentHead({ name, words = '' }: SlashCommand, head: CommitSha): string {
  if (name === 'override') return `/override ${words}`
  return name === 'unhold' ? '/unhold' : `/${name} ${head.slice(0, 12)}`
}

function toCommandRecord(
  { check }: CommandEvaluationInput,
  comment: PullComment,
  author: GitHubAccount,
  command: CommandRecord['command'],
  outcome: CommandRecord['outcome'],
): CommandRecord {
  const { head, baseRef } = check.snapshot
  return {
    comment: comment.id,
    command,
    user: author.id,
    login: normalizeLogin(author),
    outcome,
    head,
    baseRef,
    epoch: check.epoch ?? 0,
  }
}
