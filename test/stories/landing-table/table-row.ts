// What a row of the landing table is: settings of a branch, a pull request in a situation, what GitHub accepts of those
// who push or merge it, and what the bot makes of it. Written from GitHub's documents and from what people observed.
import type { MockGitHub } from '../../../sandbox/github/github.ts'
import type { OpenPullOptions } from '../../../sandbox/github/user-actions.ts'
import type { MockApp, MergeMethod, MockPull } from '../../../sandbox/github/github-data.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import { getRequiredOwnChecks } from '../../../src/policy/required-own-checks.ts'
import { toCheckNames } from '../../../src/report/report.ts'

/** Where a row plays: a repository of its own. */
export interface RowRepository {
  readonly github: MockGitHub
  /** `owner/name`. */
  readonly full: string
  /** Ours, and somebody else's. */
  readonly app: MockApp
  readonly otherApp: MockApp
}

export interface OpenedRowPull extends RowRepository {
  readonly pull: MockPull
  /** What it changes. */
  readonly changes: Readonly<Record<string, string>>
}

/** `accepted`, or a part of GitHub's words. */
export type GitHubVerdict = 'accepted' | (string & {})

/**
 * How a pull request got onto its base, as its commit shows: a merge that was pushed, one that GitHub signed for the App, a
 * merge by GitHub's API, or one commit on top of the base (squash or rebase, by API).
 */
export type MergeRoute = 'push' | 'signed' | 'merge' | 'linear' | 'queue'

export interface MergedExpectation {
  readonly ends: 'merged'
  readonly by: readonly MergeRoute[]
}

export interface WaitingExpectation {
  readonly ends: 'waits'
  /** Each stands in what people can read: the comment, a check of ours, an issue of ours. */
  readonly textPatterns: readonly RegExp[]
  /** What somebody does about it, and how it is merged then, with nothing else done. */
  readonly fix?: (it: OpenedRowPull) => unknown
  readonly then?: MergedExpectation
}

export interface MergeTableRow {
  /** A claim. */
  readonly name: string
  /** The row of the reference that it is about, by its first column; absent: rows together. */
  readonly setting?: string
  /** Why it is so: a section of GitHub's documentation, or who observed it. */
  readonly source: string
  readonly set: (it: RowRepository) => unknown
  readonly files?: Readonly<Record<string, string>>
  /** Whether the base moved on after the pull request was opened. It did, unless this says no. */
  readonly behind?: false
  readonly pull?: Partial<OpenPullOptions>
  /** What happened before anyone tries to merge: reviews, results of CI. */
  readonly before?: (it: OpenedRowPull) => unknown
  /** CI that runs on temporary branches of ours, too. */
  readonly runsOnTemporary?: string
  /** What GitHub says of a hand-made merge that has our checks green on itself, and of merging by API. */
  readonly push: GitHubVerdict
  readonly api?: Partial<Record<MergeMethod, GitHubVerdict>>
  /**
   * Played by a running bot, too: one row for each way, and for each kind of waiting. Every row is landed, by what the bot would
   * choose, without its process.
   */
  readonly withBot?: true
  /** What the bot makes of it; several where the documents leave it open. */
  readonly bot: MergedExpectation | WaitingExpectation | readonly [MergedExpectation, WaitingExpectation]
}

export const expectMergedBy = (...by: MergeRoute[]): MergedExpectation => ({ ends: 'merged', by })

/** Alice's pull request is approved by somebody with write access. */
export const approveAsBob = ({ github, pull }: OpenedRowPull): unknown =>
  github.review(pull, 'bob', 'approve')

/** The result of CI on the pull request's head. */
export const createCiStatusSetter =
  (state: 'success' | 'failure' | 'pending') =>
  ({ github, full, pull }: OpenedRowPull): unknown =>
    github.setStatus(full, pull.headSha, 'bob', { context: 'ci', state })

/** The author brings the head up to date: the same change on the base's tip. */
export const updateHead = ({ github, pull, changes }: OpenedRowPull): Promise<string> =>
  github.forcePush(pull, changes)

/** Those that a branch of these tests requires. */
export const botCheckNames = toCheckNames(getRequiredOwnChecks(defaultConfig))
