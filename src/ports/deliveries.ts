// What came in: a delivery is remembered under its GUID together with the jobs that it asks for, or not at all.
import type { Job } from './jobs.ts'
import type { SeenPush } from './pull-memory.ts'

export interface Delivery {
  /** GitHub's X-GitHub-Delivery: a redelivery keeps it. */
  readonly guid: string
  readonly event: string
  /** The raw body, as received and verified. */
  readonly body: Uint8Array
}

export interface Deliveries {
  /**
   * In one transaction: remembers the delivery under its GUID and enqueues its jobs. A GUID seen before
   * changes nothing and answers 'duplicate'. A job equal to one that waits is coalesced into it. `push`: remembered
   * with the delivery, for `pushersOf`.
   */
  accept(delivery: Delivery, jobs: readonly Job[], push?: SeenPush): Promise<'new' | 'duplicate'>
}
