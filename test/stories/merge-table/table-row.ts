// Defines a row of the table: settings of a branch, a pull request in a situation, what GitHub accepts from pushes and
// merges, and how the bot reacts. It is based on GitHub's documents and on observations.
import type { MockGitHub } from '../../../sandbox/github/github.ts'
import type { CreatePullOptions } from '../../../sandbox/github/user-actions.ts'
import type { MockApp, MergeMethod, MockPull } from '../../../sandbox/github/github-data.ts'
import { defaultConfig } from '../../../src/config/config.ts'
import { getRequiredBotChecks } from '../../../src/policy/decide.ts'
import { toPrefixedCheckNames } from '../../../src/report/report-options.ts'

/** The environment of a row: a separate repository. */
export interface MergeTableRowRepository {
  readonly github: MockGitHub
  /** `owner/name`. */
  readonly full: string
  /** Our App, and another one. */
  readonly app: MockApp
  readonly otherApp: MockApp
}

export interface MergeTableRowPull extends MergeTableRowRepository {
  readonly pull: MockPull
  /** The files that it changes. */
  readonly changes: Readonly<Record<string, string>>
}

/** `accepted`, or a part of GitHub's message. */
export type GitHubMergeVerdict = 'accepted' | (string & {})

/**
 * How a pull request got onto its base, as its commit shows: a pushed merge, a merge that GitHub signed for the App, a
 * merge by GitHub's API, or one commit on top of the base (squash or rebase, by API).
 */
export type ObservedMergeMethod = 'push' | 'signed' | 'merge' | 'linear' | 'queue'

export interface ExpectedMergeResult {
  readonly ends: 'merged'
  readonly by: readonly ObservedMergeMethod[]
}

export interface ExpectedBlockedMergeResult {
  readonly ends: 'waits'
  /** Each is in the visible text: the comment, a check, or an issue of the bot. */
  readonly textPatterns: readonly RegExp[]
  /** The fix, and how the pull request is merged afterwards without further steps. */
  readonly fix?: (it: MergeTableRowPull) => unknown
  readonly then?: ExpectedMergeResult
}

export interface MergeTableRow {
  /** A claim. */
  readonly name: string
  /** The row of the reference that it covers, by its first column. Absent for combined rows. */
  readonly setting?: string
  /** The evidence: a section of GitHub's documentation, or who observed it. */
  readonly source: string
  readonly set: (it: MergeTableRowRepository) => unknown
  readonly files?: Readonly<Record<string, string>>
  /** Whether the base moved after the pull request was opened. It did unless this is false. */
  readonly behind?: false
  readonly pull?: Partial<CreatePullOptions>
  /** What happened before the first merge attempt: reviews, and results of CI. */
  readonly before?: (it: MergeTableRowPull) => unknown
  /** CI that also runs on our temporary branches. */
  readonly runsOnTemporary?: string
  /** How GitHub responds to a manual merge commit with our successful checks, and to merging by API. */
  readonly push: GitHubMergeVerdict
  readonly api?: Partial<Record<MergeMethod, GitHubMergeVerdict>>
  /**
   * Whether a running bot also merges it: one row for each route and each reason to wait. Every row is also merged by
   * the route that the bot would choose, without its process.
   */
  readonly withBot?: true
  /** How the bot reacts; several if the documents leave it open. */
  readonly bot:
    | ExpectedMergeResult
    | ExpectedBlockedMergeResult
    | readonly [ExpectedMergeResult, ExpectedBlockedMergeResult]
}

/** GitHub rejects a pushed merge and a merge by API with the same message. */
export const rejectPushAndMerge = (message: string): Pick<MergeTableRow, 'push' | 'api'> => ({
  push: message,
  api: { merge: message },
})

export const createExpectedMergeResult = (...by: ObservedMergeMethod[]): ExpectedMergeResult => ({
  ends: 'merged',
  by,
})

/** The bot reports what is missing, and merges after the fix. */
export const createResultAfterFix = (
  textPatterns: readonly RegExp[],
  fix: (it: MergeTableRowPull) => unknown,
  ...by: ObservedMergeMethod[]
): ExpectedBlockedMergeResult => ({
  ends: 'waits',
  textPatterns,
  fix,
  then: createExpectedMergeResult(...by),
})

/** A user with write access approves Alice's pull request. */
export const approvePullAsBob = ({ github, pull }: MergeTableRowPull): unknown =>
  github.review(pull, 'bob', 'approve')

/** The result of CI on the pull request's head. */
export const createCiStatusSetter =
  (state: 'success' | 'failure' | 'pending') =>
  ({ github, full, pull }: MergeTableRowPull): unknown =>
    github.setStatus(full, pull.headSha, 'bob', { context: 'ci', state })

/** The author brings the head up to date, with the same change on the base's tip. */
export const forcePushPullHead = ({ github, pull, changes }: MergeTableRowPull): Promise<string> =>
  github.forcePush(pull, changes)

/** The checks that a branch of these tests requires. */
export const botCheckNames = toPrefixedCheckNames(getRequiredBotChecks(defaultConfig))
