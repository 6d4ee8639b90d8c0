// What is left to do: jobs that wait, and whoever works them off.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

interface InRepository {
  readonly installation: number
  readonly repository: RepositoryName
}
interface OfPull extends InRepository {
  readonly pull: PullNumber
}
interface OfBranch extends InRepository {
  readonly branch: string
}

/** One piece of work: look at a pull request, or at what a push to a branch means for its catalogs. */
export type Job =
  | ({ readonly kind: 'pull' } & OfPull)
  | ({ readonly kind: 'branch' } & OfBranch)
  /** Look at every open pull request of a repository. */
  | ({ readonly kind: 'sweep' } & InRepository)
  /** Judge the groups of a branch's merge queue that have no verdict yet; `branch` is the one that they are to be merged into. */
  | ({ readonly kind: 'group' } & OfBranch)
  /** Land the next of those that are ready for a branch: a train. */
  | ({ readonly kind: 'train' } & OfBranch)
  /** Add the bundle directories that are merged to the catalogs. */
  | ({ readonly kind: 'release' } & OfBranch)
  /** Publish what is merged. */
  | ({ readonly kind: 'publish' } & InRepository)
  /** Publish, renew or remove the preview images of a pull request. */
  | ({ readonly kind: 'preview' } & OfPull)
  /** Try what a pull request leads to on a cluster. */
  | ({ readonly kind: 'trial' } & OfPull)
  /** Look up the next few images that the catalogs of a repository name. Waits behind every other kind. */
  | ({ readonly kind: 'scan' } & InRepository)

export interface Jobs {
  /** Enqueues a job, coalesced with an equal one that waits; `afterSeconds` delays it. A waiting delayed job is brought forward by an earlier one. */
  enqueue(job: Job, afterSeconds?: number): Promise<void>
}

/** Jobs of one kind that could run now, or run. */
export interface WaitingJobs {
  readonly kind: Job['kind']
  readonly waiting: number
  readonly running: number
  /** How long the oldest of those that wait could have run already. */
  readonly oldestSeconds: number
}

export interface QueueLength {
  waitingJobs(): Promise<readonly WaitingJobs[]>
}

export interface Work {
  /**
   * Works off jobs until `stop()`: one job at a time per key (repository and pull, or repository and branch), at most
   * `concurrency` at once. A handler that rejects is retried with back-off; a process that dies leaves its jobs to be
   * taken again. An equal job that arrives while one runs runs once more after it. `waiting`: how many of those that run
   * only wait for others of them, and take no place.
   */
  work(
    handler: (job: Job) => Promise<void>,
    concurrency: number,
    waiting?: () => number,
  ): Promise<{ stop(): Promise<void> }>
}
