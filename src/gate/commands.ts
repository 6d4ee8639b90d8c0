// Decides on the commands in a pull request's comments. A decision is recorded under the comment's id before it takes
// effect, so a command works once.
import { parseComment } from '../change/command.ts'
import type { Command, CommandName } from '../change/command.ts'
import type { CommitSha, UserId } from '../change/ids.ts'
import type { Comment, Person } from '../change/snapshot.ts'
import type { Approval } from '../checks/approval.ts'
import type { CheckInput } from '../checks/check.ts'
import { allRules, overridableRules } from '../checks/all-rules.ts'
import { coverage, isAgreedTo, authorisationFor, type Coverage } from '../checks/ownership/ownership.ts'
import type { Holds, Unanswered } from '../checks/ownership/people.ts'
import { loginOf } from '../checks/ownership/principal.ts'
import { questionKey } from '../checks/questions.ts'
import type { Answers, Question, Unknown } from '../checks/questions.ts'
import type { StopKind } from './landing-stop.ts'
import { once } from '../findings/once.ts'

/** A head that our comment showed. */
export interface ShownHead {
  readonly head: CommitSha
  readonly epoch: number
  /** ISO 8601 in UTC, by GitHub's clock. */
  readonly at: string
  /** The id of what the change did. Absent: our comments did not include it yet. */
  readonly change?: string
}

/** The outcome of one command, keyed by the comment's id. */
export interface CommandRecord {
  readonly comment: number
  readonly command: CommandName | 'unclear'
  readonly user: UserId
  readonly login: string
  /**
   * `done`: took effect. `denied`: no right. `stale`: for another state of the pull request. `unclear`: not understood.
   */
  readonly outcome: 'done' | 'denied' | 'stale' | 'unclear'
  readonly head: CommitSha
  readonly baseRef: string
  readonly epoch: number
  /** For approvals: what the change did then (see coverage()), and the configuration's digest. */
  readonly config?: string
  readonly covers?: Coverage
  /** For `freeze` and `thaw`. */
  readonly stop?: StopWords
  /** For `override`. */
  readonly override?: OverrideWords
  /** For `rollback`. */
  readonly rollback?: RollbackWords
}

export interface OverrideWords {
  readonly rule: string
  /** Untrusted text: escape it where it is shown. */
  readonly reason: string
}

export interface RollbackWords {
  /** Untrusted text: escape it where it is shown. */
  readonly words: string
  readonly image?: string
  readonly tag?: string
  readonly digest?: string
  readonly why?: string
}

export interface StopWords {
  /** Absent: every branch. */
  readonly branch?: string
  /** Untrusted text: escape it where it is shown. */
  readonly reason: string
  /** The stops to end. A stop that an audit ordered ends only when it is named. */
  readonly kinds: readonly StopKind[]
}

export interface CommandInput {
  /** The checks' input. Its snapshot is read again before a command takes effect. */
  readonly check: CheckInput
  readonly shown: readonly ShownHead[]
  readonly change: string
  readonly records: readonly CommandRecord[]
  /** Commands per account id in this repository within the last hour. */
  readonly recent?: ReadonlyMap<number, number>
}

export interface CommandDecision {
  readonly record: CommandRecord
  readonly reaction: '+1' | '-1' | 'eyes' | 'confused'
  /** Why it had no effect, or what to do instead. */
  readonly answer?: string
}

/** Commands per account and hour: enough for real use, and low enough that one account cannot block others. */
const perHour = 30

/** Who may give a command. `say`: the author, owners of the changed packages, and maintainers. */
const allowed: Readonly<Record<CommandName, 'everybody' | 'say' | 'owners' | 'holder' | 'maintainers'>> = {
  help: 'everybody',
  recheck: 'say',
  hold: 'say',
  // Only the person who holds it, or a maintainer: an owner cannot lift someone else's objection.
  unhold: 'holder',
  approve: 'owners',
  merge: 'owners',
  // They affect all pull requests.
  freeze: 'maintainers',
  thaw: 'maintainers',
  // It costs a build and registry space, so outsiders may not use it.
  preview: 'owners',
  // It runs the author's code on the operator's cluster.
  'test-install': 'maintainers',
  // It affects all users.
  rollback: 'maintainers',
  // Maintainers set the repository's rules, so they answer for exceptions.
  override: 'maintainers',
}

/** Also allowed on closed pull requests: a broken catalog often shows only after the merge. */
const afterClosing: ReadonlySet<CommandName> = new Set(['rollback'])

/** The questions to answer before deciding. Empty when there is no command to decide on. */
export function askCommands(input: CommandInput, answers: Answers): readonly Question[] {
  const asked = new Map<string, Question>()
  const listening: Answers = {
    get: (question) => {
      asked.set(questionKey(question), question)
      return answers.get(question)
    },
  }
  // Collects all questions at once to save round trips to GitHub.
  walkCommands(input, listening, { stops: false })
  return [...asked.values()]
}

/**
 * Decides on each unrecorded command, in comment order. Stops at the first one whose author's rights are not known yet,
 * because order matters.
 */
export function decideCommands(input: CommandInput, answers: Answers): Decided {
  return walkCommands(input, answers, { stops: true })
}

interface Decided {
  readonly decisions: readonly CommandDecision[]
  readonly open: readonly Unanswered[]
}

/** `stops`: whether to end at the first undecidable command. */
function walkCommands(input: CommandInput, answers: Answers, { stops }: { stops: boolean }): Decided {
  const { snapshot } = input.check
  const known = new Set(input.records.map(({ comment }) => comment))
  const decisions: CommandDecision[] = []
  const isOpen = snapshot.state === 'open'
  const authorisation = once(() => authorisationFor(input.check, answers))
  const given = new Map(input.recent ?? [])
  for (const comment of snapshot.comments.toSorted((a, b) => a.id - b.id)) {
    const { author } = comment
    if (known.has(comment.id) || author === null || author.kind === 'bot') continue
    // Ignore edited comments: maintainers can edit anyone's, and a year-old comment could take effect today.
    if (comment.createdAt !== comment.updatedAt) continue
    const parsed = parseComment(comment.body)
    if (parsed.kind === 'none') continue
    if (!isOpen && !(parsed.kind === 'command' && afterClosing.has(parsed.command.name))) continue
    const count = (given.get(author.id) ?? 0) + 1
    given.set(author.id, count)
    if (count > perHour) continue
    if (parsed.kind === 'unclear') {
      decisions.push({
        record: record(input, comment, author, 'unclear', 'unclear'),
        reaction: 'confused',
        answer: parsed.reason,
      })
      continue
    }
    const { command } = parsed
    const records = [...input.records, ...decisions.map((decision) => decision.record)]
    const may = mayGive(command.name, author, input, records, authorisation)
    if (may.kind === 'unknown') {
      if (stops) return { decisions, open: may.open }
      continue
    }
    if (may.kind === 'yes') {
      const edits = answers.get({
        kind: 'comment',
        comment: comment.id,
        ...(comment.node !== undefined && { node: comment.node }),
      })
      if (edits.kind === 'edited') continue
      if (edits.kind === 'unknown') {
        if (stops) return { decisions, open: [unknownEdits(comment, edits)] }
        continue
      }
    }
    if (may.kind === 'no') {
      decisions.push({
        record: record(input, comment, author, command.name, 'denied'),
        reaction: '-1',
        answer: deniedBecause[allowed[command.name]],
      })
      continue
    }
    const meant = whichBranch(command, input, answers)
    if (meant.kind === 'unknown') {
      if (stops) return { decisions, open: meant.open }
      continue
    }
    decisions.push(carryOut(command, comment, author, input, meant.stop))
  }
  return { decisions, open: [] }
}

function unknownEdits({ id }: Comment, { reason, retryAfter }: Unknown): Unanswered {
  return { question: `whether the command in comment ${id} is its author's`, reason, retryAfter }
}

const deniedBecause: Readonly<Record<(typeof allowed)[CommandName], string>> = {
  everybody: '',
  say: 'only the author, owners of the changed packages and maintainers may do that',
  owners: 'only owners of the changed packages and maintainers may do that',
  holder: 'only a maintainer, or the person who put it on hold, may do that',
  maintainers: 'only maintainers may do that',
}

function mayGive(
  name: CommandName,
  person: Person,
  input: CommandInput,
  records: readonly CommandRecord[],
  authorisation: () => ReturnType<typeof authorisationFor>,
): Holds {
  const account = { id: person.id, login: loginOf(person) }
  const isAuthor = input.check.snapshot.author?.id === person.id
  switch (allowed[name]) {
    case 'everybody':
      return { kind: 'yes' }
    case 'say':
      return isAuthor ? { kind: 'yes' } : authorisation().hasSay(account)
    case 'owners':
      // Authors cannot approve their own change; they only confirm who pushed the head.
      return isAuthor && name === 'approve' ? { kind: 'yes' } : authorisation().hasSay(account)
    case 'holder':
      return heldBy(records, input.check)?.user === person.id
        ? { kind: 'yes' }
        : authorisation().isMaintainer(account)
    case 'maintainers':
      return authorisation().isMaintainer(account)
  }
}

type Meant =
  | { readonly kind: 'known'; readonly stop?: StopWords | undefined }
  | { readonly kind: 'unknown'; readonly open: readonly Unanswered[] }

const branchName = /^[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}$/

/**
 * Parses `/freeze [branch] [reason]` and `/thaw [branch] [audit]`. The default is the pull request's base branch; `all`
 * means every branch. The first word counts only if that branch exists. A thaw with an unknown branch has no `stop`, so
 * a typo cannot open another branch.
 */
function whichBranch({ name, words = '' }: Command, { check }: CommandInput, answers: Answers): Meant {
  if (name !== 'freeze' && name !== 'thaw') return { kind: 'known' }
  const { baseRef } = check.snapshot
  const [first = '', ...others] = words.split(/[ \t]+/).filter((word) => word !== '')
  const isAll = first === 'all'
  const isOther =
    first !== baseRef && branchName.test(first) && !isAll && !(name === 'thaw' && first === 'audit')
  const there = isOther ? answers.get({ kind: 'branch', branch: first }) : undefined
  if (there?.kind === 'unknown')
    return {
      kind: 'unknown',
      open: [
        {
          question: `whether there is a branch ${first}`,
          reason: there.reason,
          retryAfter: there.retryAfter,
        },
      ],
    }
  const isNamed = first === baseRef || isAll || there?.kind === 'yes'
  const place = isAll ? {} : { branch: isNamed ? first : baseRef }
  const rest = (isNamed ? others : [first, ...others]).join(' ')
  if (name === 'freeze') return { kind: 'known', stop: { ...place, reason: rest, kinds: ['frozen'] } }
  if (rest === '') return { kind: 'known', stop: { ...place, reason: '', kinds: ['frozen', 'refused'] } }
  return { kind: 'known', stop: rest === 'audit' ? { ...place, reason: '', kinds: ['audit'] } : undefined }
}

function carryOut(
  command: Command,
  comment: Comment,
  author: Person,
  input: CommandInput,
  stop: StopWords | undefined,
): CommandDecision {
  const done = (
    reaction: CommandDecision['reaction'],
    more: Partial<CommandRecord> = {},
  ): CommandDecision => ({
    record: { ...record(input, comment, author, command.name, 'done'), ...more },
    reaction,
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
      const stale = whyStale(command, comment, input)
      return stale === undefined
        ? done('+1')
        : {
            record: record(input, comment, author, command.name, 'stale'),
            reaction: 'confused',
            answer: stale,
          }
    }
    case 'freeze':
    case 'thaw':
      return stop === undefined
        ? {
            record: record(input, comment, author, 'unclear', 'unclear'),
            reaction: 'confused',
            answer: 'there is no such branch; write /thaw, /thaw BRANCH or /thaw BRANCH audit',
          }
        : done('+1', { stop })
    case 'unhold':
    case 'approve':
    case 'override':
    case 'merge': {
      const override = command.name === 'override' ? overrideOf(command) : undefined
      if (typeof override === 'string')
        return {
          record: record(input, comment, author, 'unclear', 'unclear'),
          reaction: 'confused',
          answer: override,
        }
      const stale = whyStale(command, comment, input)
      if (stale !== undefined)
        return {
          record: record(input, comment, author, command.name, 'stale'),
          reaction: 'confused',
          answer: stale,
        }
      const { configDigest } = input.check
      return done('+1', {
        ...(configDigest !== undefined && { config: configDigest }),
        covers: coverage(input.check),
        ...(override && { override }),
      })
    }
  }
}

/**
 * Why a command does not fit the present state; undefined when it does. Without a commit it means the head that we had
 * last shown when the comment was written. A given commit must be a prefix of the head, from the present epoch.
 */
function whyStale(
  command: Command,
  comment: Comment,
  { check, shown, change }: CommandInput,
): string | undefined {
  const { head } = check.snapshot
  const epoch = check.epoch ?? 0
  const words = wordsFor(command, head)
  const ask = `comment "${words}" for the current commit`
  // GitHub's times have whole seconds, so a head shown in the same second may be later than the comment.
  const last = shown
    .filter(({ at }) => at < comment.createdAt)
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.epoch - b.epoch))
    .at(-1)
  if (command.sha !== undefined && !head.startsWith(command.sha))
    return `the head is ${head.slice(0, 12)}, not ${command.sha.slice(0, 12)}; ${ask}`
  if (last === undefined) return `the bot had not reported on any commit when the comment was written; ${ask}`
  if (last.head !== head || last.epoch !== epoch)
    return `the comment was written for ${last.head.slice(0, 12)}, and the pull request has changed since; ${ask}`
  if (last.change !== change)
    return `it was written when ${last.head.slice(0, 12)} did something else; ${ask}`
  return undefined
}

/** The same command for the present head. */
function wordsFor({ name, words = '' }: Command, head: CommitSha): string {
  if (name === 'override') return `/override ${words}`
  return name === 'unhold' ? '/unhold' : `/${name} ${head.slice(0, 12)}`
}

const overrideWords = /^(?<rule>[a-z][a-z0-9-]*)[ \t]+because[ \t]+(?<reason>.*[\p{L}\p{N}].*)$/u
/** Limit for the comment, the merge message and the records, in characters. */
const longestReason = 300

/** The override that was asked for, or why it is not allowed. */
function overrideOf({ words = '' }: Command): OverrideWords | string {
  const { rule, reason } = overrideWords.exec(words)?.groups ?? {}
  if (rule === undefined || reason === undefined) return 'write /override RULE because REASON'
  if (!ruleIds.has(rule)) return 'there is no such rule'
  if (!overridableRules.has(rule)) return 'nobody can override this rule'
  if (reason.length > longestReason) return `the reason is longer than ${longestReason} characters`
  return { rule, reason }
}

const ruleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

function record(
  { check }: CommandInput,
  comment: Comment,
  author: Person,
  command: CommandRecord['command'],
  outcome: CommandRecord['outcome'],
): CommandRecord {
  const { head, baseRef } = check.snapshot
  return {
    comment: comment.id,
    command,
    user: author.id,
    login: loginOf(author),
    outcome,
    head,
    baseRef,
    epoch: check.epoch ?? 0,
  }
}

/**
 * Approvals by command. A deleted or edited comment no longer counts. The check handles approvers who later request
 * changes.
 */
export function approvalsFromCommands(
  records: readonly CommandRecord[],
  comments: readonly Comment[],
): Approval[] {
  const said = commandsSaid(comments)
  return records
    .filter(
      ({ command, outcome, comment }) =>
        command === 'approve' && outcome === 'done' && said.get(comment)?.name === 'approve',
    )
    .map(({ user, login, head, baseRef, epoch, comment, config, covers }) => ({
      user,
      login,
      head,
      baseRef,
      epoch,
      source: 'command',
      sourceId: comment,
      ...(config !== undefined && { config }),
      ...(covers && { covers }),
    }))
}

export interface Hold {
  readonly user: UserId
  readonly login: string
  /** Someone lifted the hold, but for another state of the change. */
  readonly isBack: boolean
}

/**
 * Who holds the pull request by command. A hold survives new pushes; lifting it counts for one state only. `check` is
 * undefined where nothing can be compared, as in a conflict; then any lift counts, because nothing is merged.
 */
export function heldBy(records: readonly CommandRecord[], check: CheckInput | undefined): Hold | undefined {
  const inOrder = records
    .filter(({ command, outcome }) => outcome === 'done' && (command === 'hold' || command === 'unhold'))
    .toSorted((a, b) => a.comment - b.comment)
  const hold = inOrder.findLast(({ command }) => command === 'hold')
  if (hold === undefined) return undefined
  const lifted = inOrder.filter(({ command, comment }) => command === 'unhold' && comment > hold.comment)
  if (lifted.some((record) => check === undefined || isYesTo(record, check))) return undefined
  return { user: hold.user, login: hold.login, isBack: lifted.length > 0 }
}

/** Who asked to merge this exact state. */
export function mergeRequestedBy(
  records: readonly CommandRecord[],
  check: CheckInput,
): CommandRecord | undefined {
  return records.find(
    (record) => record.command === 'merge' && record.outcome === 'done' && isYesTo(record, check),
  )
}

/**
 * The commands that comments still give, by comment id. Edited comments give none. GitHub's times hide an edit within
 * the same second, so callers compare the words.
 */
function commandsSaid(comments: readonly Comment[]): ReadonlyMap<number, Command> {
  const said = new Map<number, Command>()
  for (const { id, body, createdAt, updatedAt } of comments) {
    const parsed = createdAt === updatedAt ? parseComment(body) : undefined
    if (parsed?.kind === 'command') said.set(id, parsed.command)
  }
  return said
}

/** Whether the approved state is still the present one, and the comment still gives the command. */
export function isYesTo(record: CommandRecord, check: CheckInput): boolean {
  const { snapshot, epoch = 0 } = check
  return (
    record.head === snapshot.head &&
    record.baseRef === snapshot.baseRef &&
    record.epoch === epoch &&
    isStillSaid(record, commandsSaid(snapshot.comments).get(record.comment)) &&
    record.covers !== undefined &&
    isAgreedTo(coverage(check), record.covers)
  )
}

/** Whether a comment still gives the recorded command with the same words. */
function isStillSaid({ command, override }: CommandRecord, said: Command | undefined): boolean {
  if (said?.name !== command) return false
  if (override === undefined) return command !== 'override'
  const words = overrideOf(said)
  return typeof words !== 'string' && words.rule === override.rule && words.reason === override.reason
}
