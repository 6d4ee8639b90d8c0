// Everything that one database remembers. Its users ask only for the ports they need.
import type { Cache } from './cache.ts'
import type { Deliveries } from './deliveries.ts'
import type { Jobs, QueueLength, Work } from './jobs.ts'
import type { LandingStops } from './landing-stops.ts'
import type { Landings } from './landings.ts'
import type { Leases } from './leases.ts'
import type { PageRecords } from './page-records.ts'
import type { PullMemory } from './pull-memory.ts'
import type { ReadyPulls } from './ready-pulls.ts'
import type { State } from './state.ts'
import type { Verdicts } from './verdicts.ts'

export type { Delivery } from './deliveries.ts'
export type { Job } from './jobs.ts'
export type { Intent } from './landings.ts'
export type { Lease } from './leases.ts'
export type { VerdictRecord } from './verdicts.ts'

export interface Store
  extends
    Deliveries,
    Jobs,
    QueueLength,
    Work,
    Leases,
    Landings,
    LandingStops,
    ReadyPulls,
    Required<PullMemory>,
    PageRecords,
    Verdicts,
    State,
    Cache {
  /** Resolves when the database answers. Rejects with a StoreError. */
  ping(): Promise<void>
  close(): Promise<void>
}
