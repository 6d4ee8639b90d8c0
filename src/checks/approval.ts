// An approval: one person's yes to one exact state of a pull request. It counts only where the head commit, the
// base branch, the epoch and what the change does are still those it was given for (I4); times and labels bind nothing.
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
  /** What the approved change did, as coverage() says it. Absent: nobody knows, so it agrees to nothing. */
  readonly covers?: ReadonlyMap<string, string>
  /**
   * Digest of the configuration it was given under. With it an approval may outlive a push that leaves a package's files
   * as they were, where the configuration allows it (T15).
   */
  readonly config?: string
}
