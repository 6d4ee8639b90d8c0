// Pull requests judged ready that wait for a train. A hint only: each is judged again before it lands.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName, PullSnapshot } from '../change/snapshot.ts'

export interface ReadyPull {
  readonly pull: PullNumber
  /** As GitHub showed it at the judgment. */
  readonly snapshot: PullSnapshot
  /** Milliseconds since the epoch, by the store's clock. Changes of the snapshot don't reset it. */
  readonly readyAt: number
}

export interface ReadyPulls {
  /** Call this before telling a worker to look for it. */
  putReady(snapshot: PullSnapshot): Promise<void>
  /** Longest waiting first. */
  readyPulls(repository: RepositoryName, branch: string): Promise<readonly ReadyPull[]>
  dropReady(repository: RepositoryName, pulls: readonly PullNumber[]): Promise<void>
}
