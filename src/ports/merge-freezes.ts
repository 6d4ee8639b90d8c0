// Who stopped merging where and why, and which pull requests wait for another try. Rows never need deleting by hand.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type {
  MergeFreeze,
  FreezeAuthor,
  FreezeEvent,
  FreezeKind,
  FreezeRequest,
  FreezeScope,
} from '../gate/merge-freeze.ts'

export interface UnfreezeRequest extends FreezeScope {
  readonly kinds: readonly FreezeKind[]
  readonly by: FreezeAuthor
  readonly reason: string
  /**
   * When the order was given, in milliseconds since the epoch. Later stops stay, whichever comment is read first.
   * Absent: now.
   */
  readonly requestedAt?: number | undefined
}

/** A pull request that GitHub refused to merge for a reason that concerns only it. */
export interface ParkedPull {
  readonly pull: PullNumber
  /** GitHub's words. Escape them for display. */
  readonly reason: string
  /** The state at the refusal. A different state is a reason to retry. */
  readonly state: string
  readonly times: number
  /** Milliseconds since the epoch. */
  readonly tryAgainAt: number
}

export interface MergeFreezes {
  /**
   * Starts a stop and answers with the stop in force. One per repository, branch and kind: `frozen` and `audit` keep
   * the first reason, `refused` takes the newest and counts. A comment that already stopped or resumed does nothing.
   */
  freezeMerges(order: FreezeRequest): Promise<MergeFreeze | undefined>
  /**
   * Ends stops and answers with those that ended. Without a branch, ends those of the repository and all its branches.
   */
  unfreezeMerges(order: UnfreezeRequest): Promise<readonly MergeFreeze[]>
  /** Allows one merge attempt at once, because GitHub's settings changed. */
  allowMergeAttempt(place: FreezeScope & { readonly branch: string }): Promise<void>
  /** Stops, including expired refusals, oldest first. Without a repository: of all. */
  listFreezes(repository?: RepositoryName): Promise<readonly MergeFreeze[]>
  /** Past starts and ends, newest first. */
  listFreezeEvents(repository: RepositoryName, most: number): Promise<readonly FreezeEvent[]>

  parkPull(repository: RepositoryName, parked: ParkedPull): Promise<void>
  parkedPull(repository: RepositoryName, pull: PullNumber): Promise<ParkedPull | undefined>
  parkedPulls(repository: RepositoryName): Promise<readonly PullNumber[]>
  unparkPull(repository: RepositoryName, pull: PullNumber): Promise<void>
}
