// What the bot is about to land, and what it landed.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { Landing } from '../gate/merge-permit.ts'
import type { Lease } from './leases.ts'

/** A landing that was begun: written before the push, resolved after by reading what happened (T39, T43). */
export interface Intent extends Landing {
  readonly id: number
  readonly fence: number
}

export interface Landings {
  /** Writes the intent in the same transaction that checks the lease's fence; undefined when the lease is lost. */
  beginLanding(lease: Lease, landing: Landing): Promise<Intent | undefined>
  /** Settles an intent. 'landed' exactly once per (repository, pull): a second is refused by the database. */
  endLanding(intent: Intent, outcome: 'landed' | 'abandoned' | 'mismatch'): Promise<void>
  /** Intents without an outcome, oldest first. */
  openLandings(repository: RepositoryName): Promise<readonly Intent[]>
  /** The recorded landing of a pull request, if the bot landed it. */
  landingOf(repository: RepositoryName, pull: PullNumber): Promise<Landing | undefined>
  /** Which of these commits of a repository the bot brought onto a branch. */
  landedCommits(repository: RepositoryName, commits: readonly CommitSha[]): Promise<ReadonlySet<CommitSha>>
}
