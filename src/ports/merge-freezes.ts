// Freezes with their authors and reasons, and pull requests that wait for another merge attempt. Rows never require manual
// cleanup.
import type { PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type {
  MergeFreeze,
  FreezeAuthor,
  FreezeEvent,
  FreezeKind,
  FreezeRequest,
  FreezeScope,
} from '../policy/merge-freeze.ts'

export interface UnfreezeRequest extends FreezeScope {
  readonly kinds: readonly FreezeKind[]
  readonly by: FreezeAuthor
  readonly reason: string
  /**
   * When the request was made, in milliseconds since the epoch. Later freezes remain, regardless of the order in which
   * comments are read. Default: now.
   */
  readonly requestedAt?: number | undefined
}

/** A pull request that GitHub rejected for a reason that concerns only this pull request. */
export interface RejectedPullRecord {
  readonly pull: PullNumber
  /** GitHub's message. Escape it for display. */
  readonly reason: string
  /** The state at the time of the rejection. A different state is a reason to retry. */
  readonly state: string
  readonly times: number
  /** Milliseconds since the epoch. */
  readonly tryAgainAt: number
}

export interface MergeFreezeStore {
  /**
   * Freezes merging and resolves to the active freeze. There is one per repository, branch, and kind: `frozen` and `audit`
   * keep the first reason, `refused` keeps the newest and counts. A comment that already froze or unfroze has no effect.
   */
  freezeMerges(order: FreezeRequest): Promise<MergeFreeze | undefined>
  /**
   * Ends freezes and resolves to those that ended. Without a branch, ends those of the repository and all its branches.
   */
  unfreezeMerges(order: UnfreezeRequest): Promise<readonly MergeFreeze[]>
  /** Allows one merge attempt immediately, because GitHub's settings changed. */
  allowMergeAttempt(parked: FreezeScope & { readonly branch: string }): Promise<void>
  /** Freezes, including expired rejections, oldest first. Without a repository, those of all repositories. */
  listFreezes(repository?: RepositoryName): Promise<readonly MergeFreeze[]>
  /** Earlier freezes and unfreezes, newest first. */
  listFreezeEvents(repository: RepositoryName, limit: number): Promise<readonly FreezeEvent[]>

  parkPull(repository: RepositoryName, parked: RejectedPullRecord): Promise<void>
  parkedPull(repository: RepositoryName, pull: PullNumber): Promise<RejectedPullRecord | undefined>
  parkedPulls(repository: RepositoryName): Promise<readonly PullNumber[]>
  unparkPull(repository: RepositoryName, pull: PullNumber): Promise<void>
}
