// Records each webhook delivery together with the jobs it asks for, or neither.
import type { Job } from './jobs.ts'
import type { RecordedPush } from './pull-memory.ts'

export interface WebhookDelivery {
  /** GitHub's X-GitHub-Delivery. A redelivery keeps it. */
  readonly guid: string
  readonly event: string
  /** The raw body as verified. */
  readonly body: Uint8Array
}

export interface WebhookDeliveries {
  /**
   * In one transaction: records the delivery and enqueues its jobs. A known GUID changes nothing and answers
   * 'duplicate'. A job equal to a waiting one is coalesced into it. `push` is recorded for `listPushers`.
   */
  accept(delivery: WebhookDelivery, jobs: readonly Job[], push?: RecordedPush): Promise<'new' | 'duplicate'>
}
