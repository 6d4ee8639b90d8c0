// GitHub in catalog-bot's own types. Octokit's types never cross this port. For merging, see merge-api.ts and repository.ts.
import type { CommitSha, PullNumber, TreeSha, UserId } from '../pull-request/ids.ts'
import type { GitHubAccount, RepositoryName, PullSnapshot } from '../pull-request/snapshot.ts'
import type { ForgeLookupRequest, LookupResultByKind } from '../checks/lookups.ts'
import type { BranchRules, TokenPermissions } from '../policy/branch-rules.ts'
import type { ReportedCheck } from '../report/report-options.ts'
import type { ReviewSuggestion } from '../report/report.ts'

/** `name` is unique per head among catalog-bot's check runs. `digest` identifies the content. */
export interface CheckRunContent extends ReportedCheck {
  readonly digest: string
}

export type ForgeAction =
  | {
      readonly kind: 'put-check'
      readonly head: CommitSha
      readonly run: CheckRunContent
      /** catalog-bot's check runs, if they were just read. If absent, they are read. */
      readonly present?: BotCommentAndCheckRuns['checks']
    }
  | {
      readonly kind: 'put-checks'
      readonly head: CommitSha
      readonly runs: readonly CheckRunContent[]
      /** catalog-bot's check runs, if they were just read. If absent, they are read. */
      readonly present?: BotCommentAndCheckRuns['checks']
    }
  /** Makes these the App's only suggestions on a pull request. Posts new ones in one review. */
  | {
      readonly kind: 'put-suggestions'
      readonly pull: PullNumber
      readonly head: CommitSha
      readonly suggestions: readonly ReviewSuggestion[]
    }
  /** Creates or edits the App's only comment on the pull request. If two processes wrote one, keeps the first. */
  | {
      readonly kind: 'put-comment'
      readonly pull: PullNumber
      readonly body: string
      /** catalog-bot's comments, and when they were read. If absent, they are read. */
      readonly present?: ObservedBotComment
    }
  | {
      readonly kind: 'request-reviews'
      readonly pull: PullNumber
      readonly users: readonly string[]
      readonly teams: readonly string[]
    }
  | { readonly kind: 'react'; readonly comment: number; readonly reaction: '+1' | '-1' | 'eyes' | 'confused' }
  /** Starts the rebuild of the catalogs that a push changed. */
  | {
      readonly kind: 'dispatch-workflow'
      readonly workflow: string
      readonly ref: string
      readonly inputs: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'dispatch-event'
      readonly event: string
      readonly payload: Readonly<Record<string, unknown>>
    }
  /** Records a commit's deployment to an environment, once each, with its newest status. */
  | {
      readonly kind: 'put-deployment'
      readonly commit: CommitSha
      readonly environment: string
      readonly state: 'success' | 'failure'
      /** At most 140 characters. */
      readonly description: string
      /** True for temporary deployments, such as previews. */
      readonly isTransient: boolean
    }
  /** Our pull request with exactly this tree on top of `parent`. An existing one is answered. */
  | {
      readonly kind: 'propose-tree'
      readonly branch: string
      readonly base: string
      readonly parent: CommitSha
      readonly tree: TreeSha
      readonly message: string
      readonly title: string
      readonly body: string
    }
  /** A commit with these files on top of a tree, on no branch yet. A repeated one is harmless. */
  | {
      readonly kind: 'write-commit'
      readonly parents: readonly CommitSha[]
      /** The tree that provides all other files. */
      readonly onto: TreeSha
      readonly files: readonly CommitFile[]
      readonly message: string
    }
  /**
   * Creates one of the App's own branches, or moves it forward from exactly `from` without losing a commit. Rejects as
   * `rejected` if the branch is elsewhere.
   */
  | {
      readonly kind: 'move-own-branch'
      /** Starts with `botBranchPrefix`. */
      readonly branch: string
      /** Absent if the branch doesn't exist yet. */
      readonly from?: CommitSha | undefined
      readonly to: CommitSha
    }
  /** Opens the App's pull request for a branch once. Returns an existing one, whether open or closed. */
  | {
      readonly kind: 'open-own-pull'
      readonly branch: string
      readonly base: string
      readonly title: string
      readonly body: string
      readonly draft: boolean
    }
  | {
      readonly kind: 'edit-own-pull'
      readonly pull: PullNumber
      readonly title: string
      readonly body: string
    }
  | { readonly kind: 'close-own-pull'; readonly pull: PullNumber }
  | { readonly kind: 'open-issue'; readonly title: string; readonly body: string }
  /** Without `state`, the issue stays open or closed. */
  | {
      readonly kind: 'edit-issue'
      readonly issue: number
      readonly title: string
      readonly body: string
      readonly state?: 'open' | 'closed'
    }
  /** Writes a comment unless one of the App's comments already starts with `marker`. */
  | { readonly kind: 'say-on-issue'; readonly issue: number; readonly marker: string; readonly body: string }

export interface CommitFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly isExecutable: boolean
}

/** The prefix of branches that catalog-bot creates for its own pull requests. It moves no other branches for them. */
export const botBranchPrefix = 'catalog-bot/add/'

export interface BotPullRequest {
  readonly pull: PullNumber
  readonly state: 'open' | 'closed' | 'merged'
  readonly head: CommitSha
}

export interface BotIssue {
  readonly number: number
  readonly state: 'open' | 'closed'
  readonly title: string
  readonly body: string
}

export interface BotCheckRun {
  readonly name: string
  readonly digest: string
  /** A completed run isn't reused. Absent if unknown. */
  readonly isOver?: boolean
  /** GitHub's conclusion, such as `success`. Absent if the check has not finished or if the conclusion is unknown. */
  readonly conclusion?: string
  readonly url?: string
}

/** catalog-bot's report on a pull request. */
export interface BotComment {
  readonly id: number
  readonly body: string
  readonly updatedAt: string
}

/** catalog-bot's comment, as read at `readAt`. */
export interface ObservedBotComment {
  readonly comment?: BotComment
  /** Later comments of catalog-bot with the same report, which must be removed. Absent if there are none. */
  readonly duplicates?: readonly number[]
  /** Milliseconds on this process's monotonic clock. */
  readonly readAt: number
}

/** catalog-bot's content on GitHub. Jobs write only what differs, so repeating a job changes nothing. */
export interface BotCommentAndCheckRuns extends ObservedBotComment {
  /** The commit of these check runs. */
  readonly head: CommitSha
  readonly checks: readonly BotCheckRun[]
}

export interface WorkflowRun {
  readonly id: number
  readonly head: CommitSha
  /** Such as `.github/workflows/build.yml`. */
  readonly path: string
  readonly status: 'queued' | 'in_progress' | 'completed'
  readonly conclusion?: string
  readonly url: string
  readonly createdAt: string
}

/** The data of a pull request in a list response, which is enough to detect changes. */
export interface OpenPullSummary {
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly baseRef: string
  /** Null if the account was deleted. */
  readonly author: UserId | null
  readonly draft: boolean
  readonly labels: readonly string[]
  /** Changes with pushes, reviews, comments, labels, and edits. */
  readonly updatedAt: string
}

/** GitHub's counts for a pull request. Estimates the cost of an evaluation, so it isn't part of the snapshot. */
export interface PullSize {
  readonly files: number
  readonly lines: number
  readonly comments: number
}

/** The data of a pull request in the response to the first request. */
export interface PullAuthorAndSize {
  readonly author: GitHubAccount | null
  /** Undefined if GitHub doesn't return the numbers. */
  readonly size: PullSize | undefined
}

export interface ForgeActionResult {
  readonly updatedAt?: string
  readonly issue?: number
  readonly pull?: PullNumber
  readonly commit?: CommitSha
  readonly url?: string
  /** The URL of each check run, by name. */
  readonly urls?: ReadonlyMap<string, string>
}

/** One repository with one installation's token. Methods reject with a ForgeError if a request to GitHub fails. */
export interface Forge {
  readonly repository: RepositoryName
  /**
   * Reads everything that a decision on a pull request needs, consistently (docs/dev/threats.md#t45). Null if it doesn't exist.
   * `skipCache`: ignores cached comments, as a merge must. `onCounts` receives the size once and is awaited before the rest is
   * read. `onOwnReports` receives catalog-bot's content on the pull request, if the same requests returned it.
   */
  readSnapshot(
    pull: PullNumber,
    options?: {
      readonly skipCache?: boolean
      readonly onCounts?: (counted: PullAuthorAndSize) => Promise<void>
      readonly onOwnReports?: (present: BotCommentAndCheckRuns) => void
    },
  ): Promise<PullSnapshot | null>
  /**
   * The pull requests that one request shows to be unchanged since their snapshots, except for the tip of the base branch,
   * with their update times. The others can be changed or unchanged. Absent if not supported.
   */
  findUnchanged?(snapshots: readonly PullSnapshot[]): Promise<ReadonlyMap<PullNumber, string>>
  openPulls(): Promise<readonly OpenPullSummary[]>
  /** `allowCached`: allows a response that is up to one minute old. Merging, publishing, and signing must not use it. */
  defaultBranch(options?: { readonly allowCached?: boolean }): Promise<string>
  branches(): Promise<readonly string[]>
  /** The requirements of a branch for a push, without caching. The result lists what can't be read. */
  branchRules(branch: string): Promise<BranchRules>
  /** The permissions of the App in this repository. Undefined if unknown. */
  permissions(): Promise<TokenPermissions | undefined>
  /** Never rejects. Unclear answers are `unknown`. */
  answer<Q extends ForgeLookupRequest>(question: Q): Promise<LookupResultByKind[Q['kind']]>
  readOwnReports(pull: PullNumber, head: CommitSha): Promise<BotCommentAndCheckRuns>
  /** catalog-bot's check runs on a commit, including commits without a pull request. */
  readOwnChecks(commit: CommitSha): Promise<BotCommentAndCheckRuns['checks']>
  /**
   * The states of other Apps' check runs and statuses on a commit, in a fixed order, at most a thousand of each. Omits
   * statuses if the installation hasn't accepted `statuses: read`.
   */
  readOtherChecks(commit: CommitSha): Promise<readonly string[]>
  /** Unresolved conversations among the first and the last hundred. Undefined if GitHub doesn't return them. */
  countOpenThreads(pull: PullNumber): Promise<number | undefined>
  /**
   * The App's issue that starts with `marker`: preferably this number, otherwise an open one, otherwise the newest. Anyone can
   * write the marker, so only the App's own issues count (docs/dev/threats.md#t56).
   */
  findOwnIssue(marker: string, number?: number): Promise<BotIssue | undefined>
  /** The pull request whose merge added this commit to a branch. Undefined if there are none or several. */
  findMergedPull(commit: CommitSha, branch: string): Promise<PullNumber | undefined>
  /** The App's pull request for a branch: the open one, otherwise the newest. */
  findOwnPull(branch: string, base: string): Promise<BotPullRequest | undefined>
  /** Resolves to the comment's time, the number of what was opened, the created commit, or the check runs' URLs. */
  perform(action: ForgeAction): Promise<ForgeActionResult>
  /** The most recent runs that a dispatch of this kind started on a branch, newest first. */
  listDispatchedRuns(
    by: 'workflow_dispatch' | 'repository_dispatch',
    branch: string,
  ): Promise<readonly WorkflowRun[]>
}
