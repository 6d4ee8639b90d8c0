// The merges that catalog-bot is about to make, and those that it made.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { MergeStrategy } from '../policy/merge-strategy.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { Lease } from './jobs.ts'
import type {
  MergeFreeze,
  FreezeAuthor,
  FreezeEvent,
  FreezeKind,
  FreezeRequest,
  FreezeScope,
} from '../policy/merge-freeze.ts'

/** Freezes, and pull requests that wait for another merge attempt. Rows never require manual cleanup. */
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
  /** Ends freezes and resolves to them. Without a branch, ends those of the repository and all its branches. */
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

/** Recorded before the branch can move. */
export interface PendingMerge extends ValidatedMerge {
  /** Absent for a push of the permit's own commit. */
  readonly method?: MergeStrategy
  /** Milliseconds since the epoch. */
  readonly begunAt?: number
}

/**
 * A merge that is recorded before the branch can move, and that is resolved by reading the result
 * (docs/dev/threats.md#t39, #t43). `commit` is the commit to push. For a signed push, it is a commit with the permit's
 * parents and tree. If GitHub merges, it is the validated merge to compare with.
 */
export interface MergeIntent extends PendingMerge {
  readonly id: number
  readonly fence: number
}

export interface MergeRecordStore {
  /** Writes the intent in the transaction that checks the lease's fence. Undefined if the lease is lost. */
  startMerge(lease: Lease, merge: PendingMerge): Promise<MergeIntent | undefined>
  /**
   * Settles an intent. The database allows the outcome `landed` only once per (repository, pull). `commit`: the commit that
   * GitHub created. An abandoned intent can still succeed, because its push can arrive after its lease expired. If two
   * processes started the same merge, one intent is recorded as merged and the other as abandoned. False if the intent already
   * had this outcome.
   */
  finishMerge(
    intent: MergeIntent,
    outcome: 'landed' | 'abandoned' | 'mismatch',
    commit?: CommitSha,
  ): Promise<boolean>
  listPendingMerges(repository: RepositoryName): Promise<readonly MergeIntent[]>
  /** The newest abandoned intents, in case the pull request turns out to be merged. */
  listAbandonedMerges(repository: RepositoryName, pull: PullNumber): Promise<readonly MergeIntent[]>
  /** The recorded merge, if catalog-bot merged this pull request. */
  findMerge(repository: RepositoryName, pull: PullNumber): Promise<ValidatedMerge | undefined>
  /** The pull requests that catalog-bot merged as these commits. `isPending`: or pushed, but has not verified yet. */
  findPullsOfCommits(
    repository: RepositoryName,
    commits: readonly CommitSha[],
    isPending?: boolean,
  ): Promise<ReadonlyMap<CommitSha, PullNumber>>
}
