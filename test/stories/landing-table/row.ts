// What a row of the landing table is: settings of a branch, a pull request in a situation, what GitHub accepts of those
// who push or merge it, and what the bot makes of it. Written from GitHub's documents and from what people observed.
import type { GitHub } from '../../../sandbox/github/github.ts'
import type { OpenPull } from '../../../sandbox/github/people.ts'
import type { App, MergeMethod, Pull } from '../../../sandbox/github/world.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import { demandedChecks } from '../../../src/gate/demanded-checks.ts'
import { namesOfChecks } from '../../../src/messages/report.ts'

/** Where a row plays: a repository of its own. */
export interface Stage {
  readonly github: GitHub
  /** `owner/name`. */
  readonly full: string
  /** Ours, and somebody else's. */
  readonly app: App
  readonly otherApp: App
}

export interface Opened extends Stage {
  readonly pull: Pull
  /** What it changes. */
  readonly changes: Readonly<Record<string, string>>
}

/** `accepted`, or a part of GitHub's words. */
export type Answer = 'accepted' | (string & {})

/**
 * How a pull request got onto its base, as its commit shows: a merge that was pushed, one that GitHub signed for the App, a
 * merge by GitHub's API, or one commit on top of the base (squash or rebase, by API).
 */
export type Way = 'push' | 'signed' | 'merge' | 'linear' | 'queue'

export interface Merged {
  readonly ends: 'merged'
  readonly by: readonly Way[]
}

export interface Waits {
  readonly ends: 'waits'
  /** Each stands in what people can read: the comment, a check of ours, an issue of ours. */
  readonly says: readonly RegExp[]
  /** What somebody does about it, and how it is merged then, with nothing else done. */
  readonly mend?: (it: Opened) => unknown
  readonly then?: Merged
}

export interface Row {
  /** A claim. */
  readonly name: string
  /** The row of the reference that it is about, by its first column; absent: rows together. */
  readonly setting?: string
  /** Why it is so: a section of GitHub's documentation, or who observed it. */
  readonly source: string
  readonly set: (it: Stage) => unknown
  readonly files?: Readonly<Record<string, string>>
  /** Whether the base moved on after the pull request was opened. It did, unless this says no. */
  readonly behind?: false
  readonly pull?: Partial<OpenPull>
  /** What happened before anyone tries to merge: reviews, results of CI. */
  readonly before?: (it: Opened) => unknown
  /** CI that runs on temporary branches of ours, too. */
  readonly runsOnTemporary?: string
  /** What GitHub says of a hand-made merge that has our checks green on itself, and of merging by API. */
  readonly push: Answer
  readonly api?: Partial<Record<MergeMethod, Answer>>
  /**
   * Played by a running bot, too: one row for each way, and for each kind of waiting. Every row is landed, by what the bot would
   * choose, without its process.
   */
  readonly withBot?: true
  /** What the bot makes of it; several where the documents leave it open. */
  readonly bot: Merged | Waits | readonly [Merged, Waits]
}

export const merged = (...by: Way[]): Merged => ({ ends: 'merged', by })

/** Alice's pull request is approved by somebody with write access. */
export const approved = ({ github, pull }: Opened): unknown => github.review(pull, 'bob', 'approve')

/** The result of CI on the pull request's head. */
export const ci =
  (state: 'success' | 'failure' | 'pending') =>
  ({ github, full, pull }: Opened): unknown =>
    github.setStatus(full, pull.headSha, 'bob', { context: 'ci', state })

/** The author brings the head up to date: the same change on the base's tip. */
export const update = ({ github, pull, changes }: Opened): Promise<string> => github.forcePush(pull, changes)

/** Those that a branch of these tests requires. */
export const ownChecks = namesOfChecks(demandedChecks(defaultConfig))
