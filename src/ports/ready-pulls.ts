// Pull requests that are ready and wait for a batch. This is only a hint: each is evaluated again before it is merged.
import type { PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName, PullSnapshot } from '../pull-request/snapshot.ts'

export interface ReadyPull {
  readonly pull: PullNumber
  /** The snapshot at the time of the evaluation. */
  readonly snapshot: PullSnapshot
  /** Milliseconds since the epoch, on the store's clock. Changes of the snapshot don't reset it. */
  readonly readyAt: number
}

export interface ReadyPullStore {
  /** Call this before you notify a worker about the pull request. */
  putReady(snapshot: PullSnapshot): Promise<void>
  /** Longest waiting first. */
  readyPulls(repository: RepositoryName, branch: string): Promise<readonly ReadyPull[]>
  dropReady(repository: RepositoryName, pulls: readonly PullNumber[]): Promise<void>
}
