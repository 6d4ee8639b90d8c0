// All records in one database. Each user of the store depends only on the ports that it needs.
import type { Cache } from './cache.ts'
import type { WebhookDeliveries } from './deliveries.ts'
import type { JobQueue, JobQueueStatistics, JobRunner } from './jobs.ts'
import type { MergeFreezes } from './merge-freezes.ts'
import type { MergeRecords } from './merge-records.ts'
import type { Leases } from './leases.ts'
import type { PageRecords } from './page-records.ts'
import type { PullHistoryStore } from './pull-memory.ts'
import type { ReadyPulls } from './ready-pulls.ts'
import type { StateStore } from './state.ts'
import type { Verdicts } from './verdicts.ts'

export type { WebhookDelivery } from './deliveries.ts'
export type { Job } from './jobs.ts'
export type { MergeIntent } from './merge-records.ts'
export type { Lease } from './leases.ts'
export type { VerdictRecord } from './verdicts.ts'

export interface Store
  extends
    WebhookDeliveries,
    JobQueue,
    JobQueueStatistics,
    JobRunner,
    Leases,
    MergeRecords,
    MergeFreezes,
    ReadyPulls,
    Required<PullHistoryStore>,
    PageRecords,
    Verdicts,
    StateStore,
    Cache {
  /** Resolves when the database responds. Rejects with a StoreError. */
  ping(): Promise<void>
  close(): Promise<void>
}
