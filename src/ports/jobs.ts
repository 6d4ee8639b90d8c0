// Jobs that wait, and the worker that runs them.
import type { PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'

interface RepositoryJob {
  readonly installation: number
  readonly repository: RepositoryName
}
interface PullJob extends RepositoryJob {
  readonly pull: PullNumber
}
interface BranchJob extends RepositoryJob {
  readonly branch: string
}

/** A look at a pull request, or at what a push to a branch means for its catalogs. */
export type Job =
  | ({ readonly kind: 'pull' } & PullJob)
  | ({ readonly kind: 'branch' } & BranchJob)
  /** Look at every open pull request of a repository. */
  | ({ readonly kind: 'sweep' } & RepositoryJob)
  /** Judge merge queue groups without a verdict; `branch` is their base branch. */
  | ({ readonly kind: 'group' } & BranchJob)
  /** Land the next pull requests that are ready for a branch. */
  | ({ readonly kind: 'train' } & BranchJob)
  /** Add merged bundle directories to the catalogs. */
  | ({ readonly kind: 'release' } & BranchJob)
  /** Publish what is merged. */
  | ({ readonly kind: 'publish' } & RepositoryJob)
  | ({ readonly kind: 'preview' } & PullJob)
  /** Test the result of a pull request on a cluster. */
  | ({ readonly kind: 'trial' } & PullJob)
  /** Look up a few images named by the repository's catalogs. Lowest priority. */
  | ({ readonly kind: 'scan' } & RepositoryJob)

export interface JobQueue {
  /** Enqueues a job. It is coalesced with an equal waiting one, and the earlier time counts. */
  enqueue(job: Job, afterSeconds?: number): Promise<void>
}

/** Jobs of one kind that run or could run now. */
export interface WaitingJobs {
  readonly kind: Job['kind']
  readonly waiting: number
  readonly running: number
  /** How long the oldest has been ready to run. */
  readonly oldestSeconds: number
}

export interface QueueLength {
  waitingJobs(): Promise<readonly WaitingJobs[]>
}

export interface JobRunner {
  /**
   * Runs jobs until `stop()`: one at a time per key (repository and pull, or repository and branch), at most
   * `concurrency` in total. A rejected job is retried with back-off; a dead process's jobs are taken over. An equal job
   * that arrives while one runs runs once more afterwards. `waiting`: running jobs that only wait for others and so
   * take no place.
   */
  work(
    handler: (job: Job) => Promise<void>,
    concurrency: number,
    waiting?: () => number,
  ): Promise<{ stop(): Promise<void> }>
}
