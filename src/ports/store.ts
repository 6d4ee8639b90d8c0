// What must survive the process: deliveries, jobs, verdicts, landing intents, leases, caches.
// GitHub and git are the truth about repositories; the store is the truth about what we owe and what we did.
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { Landing } from '../gate/merge-permit.ts'
import type { LandingStops } from './landing-stops.ts'
import type { PullMemory, SeenPush } from './pull-memory.ts'

export interface Delivery {
  /** GitHub's X-GitHub-Delivery: a redelivery keeps it. */
  readonly guid: string
  readonly event: string
  /** The raw body, as received and verified. */
  readonly body: Uint8Array
}

/** One piece of work: look at a pull request, or at what a push to a branch means for its catalogs. */
export type Job =
  | {
      readonly kind: 'pull'
      readonly installation: number
      readonly repository: RepositoryName
      readonly pull: PullNumber
    }
  | {
      readonly kind: 'branch'
      readonly installation: number
      readonly repository: RepositoryName
      readonly branch: string
    }
  /** Look at every open pull request of a repository. */
  | { readonly kind: 'sweep'; readonly installation: number; readonly repository: RepositoryName }
  /** Judge the groups of a branch's merge queue that have no verdict yet. */
  | {
      readonly kind: 'group'
      readonly installation: number
      readonly repository: RepositoryName
      /** The branch that they are to be merged into. */
      readonly branch: string
    }
  /** Look up the next few images that the catalogs of a repository name. Waits behind every other kind. */
  | { readonly kind: 'scan'; readonly installation: number; readonly repository: RepositoryName }

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

export interface Lease {
  readonly name: string
  /** Grows with every holder: an old holder's token is refused (T44). */
  readonly fence: number
}

export interface Store extends Required<PullMemory>, LandingStops {
  /**
   * In one transaction: remembers the delivery under its GUID and enqueues its jobs. A GUID seen before
   * changes nothing and answers 'duplicate'. A job equal to one that waits is coalesced into it. `push`: remembered
   * with the delivery, for `pushersOf`.
   */
  accept(delivery: Delivery, jobs: readonly Job[], push?: SeenPush): Promise<'new' | 'duplicate'>
  /** Enqueues a job, coalesced with an equal one that waits; `afterSeconds` delays it. A waiting delayed job is brought forward by an earlier one. */
  enqueue(job: Job, afterSeconds?: number): Promise<void>
  /**
   * Works off jobs until `stop()`: one job at a time per key (repository and pull, or repository and branch), at most
   * `concurrency` at once. A handler that rejects is retried with back-off; a process that dies leaves its jobs to be
   * taken again. An equal job that arrives while one runs runs once more after it.
   */
  work(handler: (job: Job) => Promise<void>, concurrency: number): Promise<{ stop(): Promise<void> }>

  /** A lease that survives the process: undefined while another holder's is valid. */
  acquireLease(name: string, seconds: number): Promise<Lease | undefined>
  /** False when the lease is no longer ours. */
  renewLease(lease: Lease, seconds: number): Promise<boolean>
  releaseLease(lease: Lease): Promise<void>

  /** Writes the intent in the same transaction that checks the lease's fence; undefined when the lease is lost. */
  beginLanding(lease: Lease, landing: BegunLanding): Promise<Intent | undefined>
  /**
   * Settles an intent. 'landed' exactly once per (repository, pull): a second is refused by the database.
   * `commit`: what got onto the branch, where GitHub made it.
   */
  endLanding(intent: Intent, outcome: 'landed' | 'abandoned' | 'mismatch', commit?: CommitSha): Promise<void>
  /** Intents without an outcome, oldest first. */
  openLandings(repository: RepositoryName): Promise<readonly Intent[]>
  /** The recorded landing of a pull request, if the bot landed it. */
  landingOf(repository: RepositoryName, pull: PullNumber): Promise<Landing | undefined>

  /** Cached facts by content: a small, typed key-value space. Values are JSON. Expired values are not returned. */
  getCached(space: string, keys: readonly string[]): Promise<ReadonlyMap<string, unknown>>
  putCached(space: string, values: ReadonlyMap<string, unknown>, ttlSeconds?: number): Promise<void>

  /** What was last decided for a pull request, for status pages and `explain`; one row per (repository, pull, head, base, config). */
  recordVerdict(record: VerdictRecord): Promise<void>
  verdicts(repository: RepositoryName, pull: PullNumber): Promise<readonly VerdictRecord[]>

  close(): Promise<void>
}

export interface VerdictRecord {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly base: CommitSha
  readonly config: string
  readonly verdict: string
  /** JSON: reasons and findings as shown to people. */
  readonly report: unknown
  /** Milliseconds since the epoch. */
  readonly decidedAt: number
}
