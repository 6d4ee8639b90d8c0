// An approval: one person's yes to one exact state of a pull request. It counts only where the head commit, the
// base branch and the epoch are still those it was given for (I4); times and labels bind nothing.
import type { CommitSha, UserId } from '../change/ids.ts'

export interface Approval {
  readonly user: UserId
  readonly login: string
  readonly head: CommitSha
  readonly baseRef: string
  /** Counts changes of head and base branch: a return to an old head is a new epoch (T21). */
  readonly epoch: number
  readonly source: 'review' | 'command'
  /** The review's or the comment's id. */
  readonly sourceId: number
  /**
   * Digest of the configuration it was given under, and what the approved change did, as coverage() says it. Both
   * let an approval outlive a push that leaves those files as they were, where the configuration allows it (T15).
   */
  readonly config?: string
  readonly covers?: ReadonlyMap<string, string>
}
