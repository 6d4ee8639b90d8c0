// All records in one database. Each user of the store depends only on the ports that it needs.
import type { Cache } from './cache.ts'
import type { WebhookDeliveryStore } from './deliveries.ts'
import type { JobQueue, JobQueueStatistics, JobRunner } from './jobs.ts'
import type { MergeFreezeStore } from './merge-freezes.ts'
import type { MergeRecordStore } from './merge-records.ts'
import type { LeaseStore } from './leases.ts'
import type { StatusPageStore } from './page-records.ts'
import type { PullHistoryStore } from './pull-memory.ts'
import type { ReadyPullStore } from './ready-pulls.ts'
import type { StateStore } from './state.ts'
import type { VerdictStore } from './verdicts.ts'

export type { WebhookDelivery } from './deliveries.ts'
export type { Job } from './jobs.ts'
export type { MergeIntent } from './merge-records.ts'
export type { Lease } from './leases.ts'
export type { VerdictRecord } from './verdicts.ts'

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
