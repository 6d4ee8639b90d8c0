// One person's approval of one exact state of a pull request. It counts only while head, base branch, epoch and effect
// of the change stay the same.
import type { CommitSha, UserId } from '../pull-request/ids.ts'

export interface Approval {
  readonly user: UserId
  readonly login: string
  readonly head: CommitSha
  readonly baseRef: string
  /** Counts changes of head and base branch, so that a return to an old head is a new epoch. */
  readonly epoch: number
  readonly source: 'review' | 'command'
  /** The id of the review or comment. */
  readonly sourceId: number
  /** What the approved change did (see coverage()). Absent: unknown, so the approval covers nothing. */
  readonly covers?: ReadonlyMap<string, string>
  /**
   * Digest of the configuration at the time. With it an approval can survive a push that leaves a package's files
   * unchanged, if the configuration allows that.
   */
  readonly config?: string
}
