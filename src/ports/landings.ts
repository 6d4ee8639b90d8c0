// What the bot is about to land, and what it landed.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { Landing } from '../gate/merge-permit.ts'
import type { Lease } from './leases.ts'

/** What is written down before anything can move the branch. */
export interface BegunLanding extends Landing {
  /** Absent: a push of the permit's own commit. */
  readonly method?: LandingMethod
  /** Milliseconds since the epoch. */
  readonly begunAt?: number
}

/**
 * A landing that was begun: written before the branch can move, resolved after by reading what happened (T39, T43).
 * `commit` is what would be pushed, which for a signed push is not the permit's own commit but one with the same
 * parents and tree; where GitHub merges, it is the validated merge that the outcome is compared with.
 */
export interface Intent extends BegunLanding {
  readonly id: number
  readonly fence: number
}

export interface Landings {
  /** Writes the intent in the same transaction that checks the lease's fence; undefined when the lease is lost. */
  beginLanding(lease: Lease, landing: BegunLanding): Promise<Intent | undefined>
  /**
   * Settles an intent. 'landed' exactly once per (repository, pull): a second is refused by the database.
   * `commit`: what got onto the branch, where GitHub made it. An abandoned one may still come to be 'landed': its push can
   * arrive after its lease ran out and another holder read the branch without it. The same merge is the same commit: one
   * that another process had begun, too, is on record once, as what landed, and else as abandoned. False: it had come to
   * this end before.
   */
  endLanding(
    intent: Intent,
    outcome: 'landed' | 'abandoned' | 'mismatch',
    commit?: CommitSha,
  ): Promise<boolean>
  /** Intents without an outcome, oldest first. */
  openLandings(repository: RepositoryName): Promise<readonly Intent[]>
  /** The newest intents of a pull request that were given up, for when it turns out to be merged. */
  abandonedLandings(repository: RepositoryName, pull: PullNumber): Promise<readonly Intent[]>
  /** The recorded landing of a pull request, if the bot landed it. */
  landingOf(repository: RepositoryName, pull: PullNumber): Promise<Landing | undefined>
  /** Which of these commits of a repository the bot brought onto a branch. */
  landedCommits(repository: RepositoryName, commits: readonly CommitSha[]): Promise<ReadonlySet<CommitSha>>
  /** The pull requests that the bot merged as these commits; those that it did not are left out. */
  landedPulls(
    repository: RepositoryName,
    commits: readonly CommitSha[],
  ): Promise<ReadonlyMap<CommitSha, PullNumber>>
}
