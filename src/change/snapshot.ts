// A snapshot: all that GitHub said about one pull request at one moment, in our own words.
// Every fact and verdict is bound to its head and base. Titles, labels and comments are display or commands,
// never authority by themselves; people are numeric ids.
import type { CommitSha, PullNumber, UserId } from './ids.ts'

export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

export interface Person {
  readonly id: UserId
  /** For display and for matching owner files; never compared as authority without the id behind it. */
  readonly login: string
  readonly kind: 'user' | 'bot'
}

export interface Snapshot {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly state: 'open' | 'closed' | 'merged'
  readonly draft: boolean
  readonly title: string
  /** ISO 8601, for display. Absent: nobody said. */
  readonly openedAt?: string
  /** Null when the account was deleted ("ghost"). */
  readonly author: Person | null
  readonly head: CommitSha
  /** The branch that the pull request wants to change, without `refs/heads/`. */
  readonly baseRef: string
  /** The tip of that branch, read from the ref itself, never from the pull request's ancestry (T04). */
  readonly base: CommitSha
  /**
   * The tip of that branch when the head was last pushed, as GitHub remembers it: where its page begins to compare. Tells
   * what reviewers were shown, and is never what anything is judged against.
   */
  readonly shownBase?: CommitSha
  /** Null when the fork was deleted. */
  readonly headRepository: RepositoryName | null
  readonly labels: readonly string[]
  /** Latest first is not assumed: the full history, in the order given (T28). */
  readonly reviews: readonly Review[]
  readonly comments: readonly Comment[]
  /** Why comments or reviews were not all read: there are too many. Then nothing is decided on the rest. */
  readonly excess?: string
  /**
   * Who pushed the head (T24). Null: GitHub does not say. Absent: nobody asked, as in an offline check.
   * Never taken from commits: their authors are free text (T22).
   */
  readonly pusher?: Person | null
  /** True for a pull request of a stack that does not stand directly on the protected branch (T17). */
  readonly stacked: boolean
}

export interface Review {
  readonly id: number
  readonly author: Person | null
  readonly state: 'approved' | 'changes-requested' | 'commented' | 'dismissed'
  /** The commit that was reviewed: what binds an approval (I4), not a time. */
  readonly commit: CommitSha | null
  readonly submittedAt: string
}

export interface Comment {
  readonly id: number
  /** GitHub's opaque id of it, by which it is asked who edited it. Absent: that cannot be asked. */
  readonly node?: string
  readonly author: Person | null
  readonly body: string
  readonly createdAt: string
  readonly updatedAt: string
}
