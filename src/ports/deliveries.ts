// Records each webhook delivery together with the jobs that it triggers, atomically.
import type { Job } from './jobs.ts'
import type { RecordedHeadPush } from './pull-memory.ts'

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
