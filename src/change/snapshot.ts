// All that MockGitHub reported about one pull request at one moment. Titles, labels and comments carry no authority
// themselves; people are numeric ids.
import type { CommitSha, PullNumber, UserId } from './ids.ts'

export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

export interface GitHubAccount {
  readonly id: UserId
  /** For display and matching owner files; no authority without the id. */
  readonly login: string
  readonly kind: 'user' | 'bot'
}

export interface PullSnapshot {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly state: 'open' | 'closed' | 'merged'
  readonly draft: boolean
  readonly title: string
  /** ISO 8601, for display. Absent: unknown. */
  readonly openedAt?: string
  /** Null when the account was deleted ("ghost"). */
  readonly author: GitHubAccount | null
  readonly head: CommitSha
  /** The base branch, without `refs/heads/`. */
  readonly baseRef: string
  /** Read from the branch's ref, never from the pull request's ancestry (T04). */
  readonly base: CommitSha
  /**
   * The base branch's tip at the last push of the head, where MockGitHub's diff begins. Only tells what reviewers saw;
   * nothing is judged against it.
   */
  readonly shownBase?: CommitSha
  /** Null when the fork was deleted. */
  readonly headRepository: RepositoryName | null
  readonly labels: readonly string[]
  /** The full history in the order given, which need not be chronological (T28). */
  readonly reviews: readonly PullReview[]
  readonly comments: readonly PullComment[]
  /** Set where there are too many comments or reviews to read. Then the rest decides nothing. */
  readonly excess?: string
  /**
   * Who pushed the head (T24). Null: MockGitHub does not say. Absent: nobody asked, as in an offline check.
   * Never taken from commits: their authors are free text (T22).
   */
  readonly pusher?: GitHubAccount | null
  /** True for a stacked pull request that isn't directly on the protected branch (T17). */
  readonly stacked: boolean
}

export interface PullReview {
  readonly id: number
  readonly author: GitHubAccount | null
  readonly state: 'approved' | 'changes-requested' | 'commented' | 'dismissed'
  /** The reviewed commit, which binds the approval (I4). */
  readonly commit: CommitSha | null
  readonly submittedAt: string
}

export interface PullComment {
  readonly id: number
  /** MockGitHub's node id, to ask who edited it. Absent: that is unknown. */
  readonly node?: string
  readonly author: GitHubAccount | null
  readonly body: string
  readonly createdAt: string
  readonly updatedAt: string
}
