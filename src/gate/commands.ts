// What becomes of the commands in a pull request's comments: who may give which, what each is bound to, and what is
// remembered of it. Pure: comments, rights and memory in, decisions out. A decision is recorded under the comment's
// id before anything else happens, so a command works once (I18).
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

/** A head that our comment named, in its epoch. */
export interface ShownHead {
  readonly head: CommitSha
  readonly epoch: number
  /** When, by GitHub's clock: ISO 8601 in UTC, as comments carry it. */
  readonly at: string
  /** The id of what the change did, as our comment named it. Absent: it was shown before comments named that. */
  readonly change?: string
}

/** What became of one command; the comment's id is its key. */
export interface CommandRecord {
  readonly comment: number
  readonly command: CommandName | 'unclear'
  readonly user: UserId
  readonly login: string
  /** `done`: it took effect. `denied`: no right. `stale`: it was about another state than the present one. `unclear`: not understood. */
  readonly outcome: 'done' | 'denied' | 'stale' | 'unclear'
  readonly head: CommitSha
  readonly baseRef: string
  readonly epoch: number
  /** For what says yes to something: what the change did then, as coverage() says it, and the configuration's digest. */
  readonly config?: string
  readonly covers?: Coverage
  /** For `freeze` and `thaw`: the branch, why, and which stops a thaw ends. */
  readonly stop?: StopWords
  /** For `override`: the rule, and why. */
  readonly override?: OverrideWords
  /** For `rollback`: what was asked for and, where it was understood, the image that the tags are to name. */
  readonly rollback?: RollbackWords
}

/** Which rule a maintainer lets the change pass in spite of, and why. */
export interface OverrideWords {
  readonly rule: string
  /** Anybody's words: escaped where they are shown. */
  readonly reason: string
}

export interface RollbackWords {
  /** Anybody's words: escaped where they are shown. */
  readonly words: string
  readonly image?: string
  readonly tag?: string
  readonly digest?: string
  /** Why it was not understood. */
  readonly why?: string
}

/** What a maintainer wants of a branch. */
export interface StopWords {
  /** Absent: every branch. */
  readonly branch?: string
  /** Anybody's words: escaped where they are shown. */
  readonly reason: string
  /** The stops that are meant: one that an audit ordered is ended by name alone. */
  readonly kinds: readonly StopKind[]
}

export interface CommandInput {
  /** The same input as the checks get; its snapshot is read anew when a command is carried out (T29). */
  readonly check: CheckInput
  readonly shown: readonly ShownHead[]
  /** The id of what the change does now, as our comments name it. */
  readonly change: string
  /** Commands on record for this pull request. */
  readonly records: readonly CommandRecord[]
  /** Commands that each account gave in this repository within the last hour, by its id. */
  readonly recent?: ReadonlyMap<number, number>
}

export interface CommandDecision {
  readonly record: CommandRecord
  readonly reaction: '+1' | '-1' | 'eyes' | 'confused'
  /** For people: why it had no effect, or what to do instead. */
  readonly answer?: string
}

/** Commands per account and hour: more than anybody needs, fewer than would keep others waiting (T46). */
const perHour = 30

/** Who may give a command. `say`: the author, owners of what is changed, and maintainers. */
const allowed: Readonly<Record<CommandName, 'everybody' | 'say' | 'owners' | 'holder' | 'maintainers'>> = {
  help: 'everybody',
  recheck: 'say',
  hold: 'say',
  // Whoever holds it, or a maintainer: an owner does not lift another's objection.
  unhold: 'holder',
  approve: 'owners',
  merge: 'owners',
  // They are about everybody's pull requests.
  freeze: 'maintainers',
  thaw: 'maintainers',
  // It costs a build and a place in a registry, which strangers do not get of us.
  preview: 'owners',
  // It runs what the author wrote, on a cluster of the operator's.
  'test-install': 'maintainers',
  // What users get is everybody's matter.
  rollback: 'maintainers',
  // The rules are the repository's, and whoever looks after it answers for what they do not stop.
  override: 'maintainers',
}

/** Given on what is merged or closed, too: the pull request that broke a catalog is merged when that shows. */
const afterClosing: ReadonlySet<CommandName> = new Set(['rollback'])

/** What must be known to decide on the commands. Empty when there is nothing to decide. */
export function askCommands(input: CommandInput, answers: Answers): readonly Question[] {
  const asked = new Map<string, Question>()
  const listening: Answers = {
    get: (question) => {
      asked.set(questionKey(question), question)
      return answers.get(question)
    },
  }
  // All at once: one command after the other would be as many ways to GitHub and back.
  walkCommands(input, listening, { stops: false })
  return [...asked.values()]
}

/**
 * Decides on every command that is not on record, in the order of the comments. A command whose giver's rights are
 * not known yet is left for later, and with it those after it: their order means something.
 */
export function decideCommands(input: CommandInput, answers: Answers): Decided {
  return walkCommands(input, answers, { stops: true })
}

interface Decided {
  readonly decisions: readonly CommandDecision[]
  readonly open: readonly Unanswered[]
}

/** `stops`: whether to end at the first command that cannot be decided on yet. */
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
    // An edited comment commands nothing: maintainers edit everybody's, and a year-old one could fire today (T29).
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
      // An author's own yes approves nothing; it confirms who pushed the head (T24).
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
 * What /freeze and /thaw are about: `[branch] [reason]` and `[branch] [audit]`. Without a branch it is the one that the pull
 * request is for; `all` is every one. The first word is a branch where there is such a branch. Absent where a thaw names none: whoever
 * misspells one must not open another.
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
 * Why a command is not about the present state, undefined when it is. Without a commit it means the head that we had
 * shown last when the comment was written, never the one that is there when it is carried out (T20). A commit
 * that is given must be the head's own beginning (T50), and written in the present epoch (T21).
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
  // Seconds are all that GitHub's times have: what was shown in the same second may have come after.
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

/** How a command is given again, for the head that is there now. */
function wordsFor({ name, words = '' }: Command, head: CommitSha): string {
  if (name === 'override') return `/override ${words}`
  return name === 'unhold' ? '/unhold' : `/${name} ${head.slice(0, 12)}`
}

const overrideWords = /^(?<rule>[a-z][a-z0-9-]*)[ \t]+because[ \t]+(?<reason>.*[\p{L}\p{N}].*)$/u
/** What the comment, the merge's message and the records keep of a reason. */
const longestReason = 300

/** What /override asks for, or why that cannot be had. */
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
 * Approvals by command. The comment must still be there as it was: deleted or edited, it says nothing any more
 * (I4). Whoever asked for changes later takes their yes back; that is the check's to see.
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

/** Who holds the pull request back by command, if anybody does. */
export interface Hold {
  readonly user: UserId
  readonly login: string
  /** It was lifted, but for something else than the pull request does now. */
  readonly isBack: boolean
}

/**
 * Who holds the pull request back by command. A hold outlives everything; lifting it is a yes like any other, so it
 * is for one state and for what the change did in it. `check` is undefined where nothing can be compared, as in a
 * conflict: then having lifted it is enough, for nothing lands.
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

/** Who asked for this very state to land, if anybody did. */
export function mergeRequestedBy(
  records: readonly CommandRecord[],
  check: CheckInput,
): CommandRecord | undefined {
  return records.find(
    (record) => record.command === 'merge' && record.outcome === 'done' && isYesTo(record, check),
  )
}

/**
 * What comments still command, by their ids. Edited or deleted ones command nothing; the second within which an edit
 * does not show was over when the command was taken, or else its words show that it is another now.
 */
function commandsSaid(comments: readonly Comment[]): ReadonlyMap<number, Command> {
  const said = new Map<number, Command>()
  for (const { id, body, createdAt, updatedAt } of comments) {
    const parsed = createdAt === updatedAt ? parseComment(body) : undefined
    if (parsed?.kind === 'command') said.set(id, parsed.command)
  }
  return said
}

/** Whether what somebody said yes to by a command is what there is now, and they still say so. */
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

/** Whether a comment gives the command that was taken from it, words and all. */
function isStillSaid({ command, override }: CommandRecord, said: Command | undefined): boolean {
  if (said?.name !== command) return false
  if (override === undefined) return command !== 'override'
  const words = overrideOf(said)
  return typeof words !== 'string' && words.rule === override.rule && words.reason === override.reason
}
