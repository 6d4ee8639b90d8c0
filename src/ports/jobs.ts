// Jobs that wait, and the worker that runs them.
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

/** A look at a pull request, or at what a push to a branch means for its catalogs. */
export type Job =
  | ({ readonly kind: 'pull' } & OfPull)
  | ({ readonly kind: 'branch' } & OfBranch)
  /** Look at every open pull request of a repository. */
  | ({ readonly kind: 'sweep' } & InRepository)
  /** Judge merge queue groups without a verdict; `branch` is their base branch. */
  | ({ readonly kind: 'group' } & OfBranch)
  /** Land the next pull requests that are ready for a branch. */
  | ({ readonly kind: 'train' } & OfBranch)
  /** Add merged bundle directories to the catalogs. */
  | ({ readonly kind: 'release' } & OfBranch)
  /** Publish what is merged. */
  | ({ readonly kind: 'publish' } & InRepository)
  | ({ readonly kind: 'preview' } & OfPull)
  /** Test the result of a pull request on a cluster. */
  | ({ readonly kind: 'trial' } & OfPull)
  /** Look up a few images named by the repository's catalogs. Lowest priority. */
  | ({ readonly kind: 'scan' } & InRepository)

export interface Jobs {
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

export interface Work {
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
