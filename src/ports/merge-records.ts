// The merges that catalog-bot is about to make, and those that it made.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { MergeStrategy } from '../policy/merge-strategy.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { Lease } from './leases.ts'

/** Recorded before the branch can move. */
export interface PendingMerge extends ValidatedMerge {
  /** Absent for a push of the permit's own commit. */
  readonly method?: MergeStrategy
  /** Milliseconds since the epoch. */
  readonly begunAt?: number
}

/**
 * A merge that is recorded before the branch can move and resolved by reading what happened (docs/threats.md#t39, #t43).
 * `commit` is the commit to push. For a signed push, it is a commit with the permit's parents and tree. If GitHub merges, it is
 * the validated merge to compare with.
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
  /** The subset of these commits that catalog-bot pushed to a branch. */
  findMergedCommits(
    repository: RepositoryName,
    commits: readonly CommitSha[],
  ): Promise<ReadonlySet<CommitSha>>
  /** The pull requests that catalog-bot merged as these commits. */
  findPullsOfCommits(
    repository: RepositoryName,
    commits: readonly CommitSha[],
  ): Promise<ReadonlyMap<CommitSha, PullNumber>>
}
