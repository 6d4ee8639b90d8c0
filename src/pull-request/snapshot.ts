// The state of one pull request as GitHub reported it at one moment. Titles, labels, and comments do not grant any
// authority. Accounts are identified by numeric ids.
import type { CommitSha, PullNumber, UserId } from './ids.ts'

export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

export interface GitHubAccount {
  readonly id: UserId
  /** For display and for matching owner files. It grants no authority without the id. */
  readonly login: string
  readonly kind: 'user' | 'bot'
}

export interface PullSnapshot {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly state: 'open' | 'closed' | 'merged'
  readonly draft: boolean
  readonly title: string
  /** In ISO 8601 format, for display. Absent if unknown. */
  readonly openedAt?: string
  /** Null if the account was deleted ("ghost"). */
  readonly author: GitHubAccount | null
  readonly head: CommitSha
  /** The base branch, without `refs/heads/`. */
  readonly baseRef: string
  /** Read from the branch ref, never from the ancestry of the pull request (docs/threats.md#t04). */
  readonly base: CommitSha
  /**
   * The tip of the base branch at the last push of the head, where GitHub's diff starts. It only shows what reviewers
   * saw. No check uses it.
   */
  readonly shownBase?: CommitSha
  /** Null if the fork was deleted. */
  readonly headRepository: RepositoryName | null
  readonly labels: readonly string[]
  /** The full history in the given order, which is not necessarily chronological (docs/threats.md#t28). */
  readonly reviews: readonly PullReview[]
  readonly comments: readonly PullComment[]
  /** Set if there are too many comments or reviews to read. In this case, the others are ignored. */
  readonly excess?: string
  /**
   * The account that pushed the head (docs/threats.md#t24). Null if GitHub does not report it. Absent if catalog-bot
   * did not query it, as in an offline check. Never read from commits, because their authors are free text
   * (docs/threats.md#t22).
   */
  readonly pusher?: GitHubAccount | null
  /** True for a stacked pull request that does not directly target the protected branch (docs/threats.md#t17). */
  readonly stacked: boolean
}

export interface PullReview {
  readonly id: number
  readonly author: GitHubAccount | null
  readonly state: 'approved' | 'changes-requested' | 'commented' | 'dismissed'
  /** The reviewed commit, to which the approval is bound (docs/threats.md#i4). */
  readonly commit: CommitSha | null
  readonly submittedAt: string
}

export interface PullComment {
  readonly id: number
  /** GitHub's node id, which is needed to query who edited the comment. Absent if unknown. */
  readonly node?: string
  readonly author: GitHubAccount | null
  readonly body: string
  readonly createdAt: string
  readonly updatedAt: string
}
