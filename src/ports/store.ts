// All records in one database. Each user of the store depends only on the ports that it needs.
import type { VerdictStore, StatusPageStore } from './status-page-store.ts'
import type { LeaseStore, Job, JobQueue, JobQueueStatistics, JobRunner } from './jobs.ts'
import type { Cache } from './cache.ts'
import type { MergeRecordStore, MergeFreezeStore } from './merge-records.ts'
import type { PullHistoryStore, RecordedHeadPush } from './pull-history.ts'
import type { StateStore } from './state.ts'
import type { PullNumber } from '../pull-request/ids.ts'
import type { RepositoryName, PullSnapshot } from '../pull-request/snapshot.ts'

export interface ReadyPull {
  readonly pull: PullNumber
  /** The snapshot at the time of the evaluation. */
  readonly snapshot: PullSnapshot
  /** Milliseconds since the epoch, on the store's clock. Changes of the snapshot don't reset it. */
  readonly readyAt: number
}

/** Pull requests that are ready and wait for a batch. This is only a hint: each is evaluated again before it is merged. */
export interface ReadyPullStore {
  /** Call this before you notify a worker about the pull request. */
  putReady(snapshot: PullSnapshot): Promise<void>
  /** Longest waiting first. */
  readyPulls(repository: RepositoryName, branch: string): Promise<readonly ReadyPull[]>
  dropReady(repository: RepositoryName, pulls: readonly PullNumber[]): Promise<void>
}

export type { Job }
export type { MergeIntent } from './merge-records.ts'

export interface Store
  extends
    WebhookDeliveryStore,
    JobQueue,
    JobQueueStatistics,
    JobRunner,
    LeaseStore,
    MergeRecordStore,
    MergeFreezeStore,
    ReadyPullStore,
    Required<PullHistoryStore>,
    StatusPageStore,
    VerdictStore,
    StateStore,
    Cache {
  /** Resolves when the database responds. Rejects with a StoreError. */
  ping(): Promise<void>
  close(): Promise<void>
}

export interface WebhookDelivery {
  /** GitHub's X-GitHub-Delivery. A redelivery keeps it. */
  readonly guid: string
  readonly event: string
  /** The raw body as verified. */
  readonly body: Uint8Array
}

export interface WebhookDeliveryStore {
  /**
   * Records the delivery and enqueues its jobs, in one transaction. A known GUID changes nothing and results in 'duplicate'.
   * A job that equals a waiting one is coalesced into it. `push` is recorded for `listPushers`.
   */
  accept(
    delivery: WebhookDelivery,
    jobs: readonly Job[],
    push?: RecordedHeadPush,
  ): Promise<'new' | 'duplicate'>
}
