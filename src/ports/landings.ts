// What the bot is about to land, and what it landed.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { Landing } from '../gate/merge-permit.ts'
import type { Lease } from './leases.ts'

/** Recorded before anything can move the branch. */
export interface BegunLanding extends Landing {
  /** Absent: a push of the permit's own commit. */
  readonly method?: LandingMethod
  /** Milliseconds since the epoch. */
  readonly begunAt?: number
}

/**
 * A landing recorded before the branch can move, and resolved by reading what happened (T39, T43). `commit` is what
 * would be pushed: for a signed push, a commit with the permit's parents and tree. Where GitHub merges, it is the
 * validated merge to compare with.
 */
export interface Intent extends BegunLanding {
  readonly id: number
  readonly fence: number
}

export interface Landings {
  /** Writes the intent in the same transaction that checks the lease's fence; undefined when the lease is lost. */
  beginLanding(lease: Lease, landing: BegunLanding): Promise<Intent | undefined>
  /**
   * Settles an intent. The database allows 'landed' only once per (repository, pull). `commit`: the commit GitHub made.
   * An abandoned intent can still become 'landed', because its push may arrive after its lease ran out. If two
   * processes began the same merge, one intent is recorded as landed and the other as abandoned. False: it had this
   * outcome already.
   */
  endLanding(
    intent: Intent,
    outcome: 'landed' | 'abandoned' | 'mismatch',
    commit?: CommitSha,
  ): Promise<boolean>
  openLandings(repository: RepositoryName): Promise<readonly Intent[]>
  /** The newest abandoned intents, for when the pull request turns out to be merged. */
  abandonedLandings(repository: RepositoryName, pull: PullNumber): Promise<readonly Intent[]>
  /** The recorded landing, if the bot landed this pull request. */
  landingOf(repository: RepositoryName, pull: PullNumber): Promise<Landing | undefined>
  /** Those of these commits that the bot put on a branch. */
  landedCommits(repository: RepositoryName, commits: readonly CommitSha[]): Promise<ReadonlySet<CommitSha>>
  /** The pull requests that the bot merged as these commits. */
  landedPulls(
    repository: RepositoryName,
    commits: readonly CommitSha[],
  ): Promise<ReadonlyMap<CommitSha, PullNumber>>
}
