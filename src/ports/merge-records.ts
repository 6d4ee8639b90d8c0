// What the bot is about to land, and what it landed.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { MergeStrategy } from '../gate/merge-strategy.ts'
import type { ValidatedMerge } from '../gate/merge-permit.ts'
import type { Lease } from './leases.ts'

/** Recorded before anything can move the branch. */
export interface PendingMerge extends ValidatedMerge {
  /** Absent: a push of the permit's own commit. */
  readonly method?: MergeStrategy
  /** Milliseconds since the epoch. */
  readonly begunAt?: number
}

/**
 * A landing recorded before the branch can move, and resolved by reading what happened (T39, T43). `commit` is what
 * would be pushed: for a signed push, a commit with the permit's parents and tree. Where GitHub merges, it is the
 * validated merge to compare with.
 */
export interface MergeIntent extends PendingMerge {
  readonly id: number
  readonly fence: number
}

export interface MergeRecords {
  /** Writes the intent in the same transaction that checks the lease's fence; undefined when the lease is lost. */
  startMerge(lease: Lease, landing: PendingMerge): Promise<MergeIntent | undefined>
  /**
   * Settles an intent. The database allows 'landed' only once per (repository, pull). `commit`: the commit GitHub made.
   * An abandoned intent can still become 'landed', because its push may arrive after its lease ran out. If two
   * processes began the same merge, one intent is recorded as landed and the other as abandoned. False: it had this
   * outcome already.
   */
  finishMerge(
    intent: MergeIntent,
    outcome: 'landed' | 'abandoned' | 'mismatch',
    commit?: CommitSha,
  ): Promise<boolean>
  listPendingMerges(repository: RepositoryName): Promise<readonly MergeIntent[]>
  /** The newest abandoned intents, for when the pull request turns out to be merged. */
  listAbandonedMerges(repository: RepositoryName, pull: PullNumber): Promise<readonly MergeIntent[]>
  /** The recorded landing, if the bot landed this pull request. */
  findMerge(repository: RepositoryName, pull: PullNumber): Promise<ValidatedMerge | undefined>
  /** Those of these commits that the bot put on a branch. */
  findMergedCommits(
    repository: RepositoryName,
    commits: readonly CommitSha[],
  ): Promise<ReadonlySet<CommitSha>>
  /** The pull requests that the bot merged as these commits. */
  findPullsOfCommits(
    repository: RepositoryName,
    commits: readonly CommitSha[],
  ): Promise<ReadonlyMap<CommitSha, PullNumber>>
}
