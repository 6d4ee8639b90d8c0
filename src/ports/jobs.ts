// The job queue, and the worker that runs the jobs.
import type { PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'

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

/** Evaluates a pull request, or the effect of a push on the catalogs of a branch. */
export type Job =
  | ({ readonly kind: 'pull' } & PullJob)
  | ({ readonly kind: 'branch' } & BranchJob)
  /** Look at every open pull request of a repository. */
  | ({ readonly kind: 'sweep' } & RepositoryJob)
  /** Evaluate merge queue groups without a verdict. `branch` is their base branch. */
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

export type JobOfKind<Kind extends Job['kind']> = Extract<Job, { kind: Kind }>

export interface JobQueue {
  /** Enqueues a job. An equal waiting job is coalesced with it, and the earlier time applies. */
  enqueue(job: Job, afterSeconds?: number): Promise<void>
}

/** Jobs of one kind that are running or ready to run. */
export interface JobKindStatistics {
  readonly kind: Job['kind']
  readonly waiting: number
  readonly running: number
  /** How long the oldest job has been ready to run. */
  readonly oldestSeconds: number
}

export interface JobQueueStatistics {
  waitingJobs(): Promise<readonly JobKindStatistics[]>
}

export interface IdleJobCounts {
  /** Large pull requests that wait for small ones. */
  readonly waiting: number
  /** Background jobs that wait for pull requests. */
  readonly yielding: number
}

export interface JobRunner {
  /**
   * Runs jobs until `stop()`: one at a time per key (repository and pull, or repository and branch), at most
   * `concurrency` in total. Retries a rejected job with back-off, and takes over the jobs of a dead process. If an
   * equal job arrives while a job is running, the job runs once more afterward. `idle`: the numbers of running jobs
   * that only wait for other jobs and therefore don't count.
   */
  work(
    handler: (job: Job) => Promise<void>,
    concurrency: number,
    idle?: IdleJobCounts,
  ): Promise<{ stop(): Promise<void> }>
}

export interface Lease {
  readonly name: string
  /** Increases with every holder, so that the token of an earlier holder is rejected (docs/dev/threats.md#t44). */
  readonly fence: number
}

/** Exclusive, time-limited leases over all instances. */
export interface LeaseStore {
  /** The lease outlives the process. Undefined while another holder's lease is valid. */
  acquireLease(name: string, seconds: number): Promise<Lease | undefined>
  /** False if the lease is lost. */
  renewLease(lease: Lease, seconds: number): Promise<boolean>
  releaseLease(lease: Lease): Promise<void>
}
