// Pull requests that were judged ready, and wait for a train to take them to their branch: a hint of whom to judge once more,
// on top of what goes before them. Nobody lands by standing here.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName, Snapshot } from '../change/snapshot.ts'

export interface ReadyPull {
  readonly pull: PullNumber
  /** What GitHub said when it was judged ready. */
  readonly snapshot: Snapshot
  /** Milliseconds since the epoch, by the store's clock: since when it has waited, through all changes of its snapshot. */
  readonly readyAt: number
}

export interface ReadyPulls {
  /** Written before anybody is told to look for it. */
  putReady(snapshot: Snapshot): Promise<void>
  /** All that wait for a branch, whoever waits longest first. */
  readyPulls(repository: RepositoryName, branch: string): Promise<readonly ReadyPull[]>
  dropReady(repository: RepositoryName, pulls: readonly PullNumber[]): Promise<void>
}
