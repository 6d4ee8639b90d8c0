// The steps of a rebuild by webhook. The test provides the answers of the publishing process.
import { beforeEach, describe, expect, test } from '@jest/globals'
import {
  computeDeliveryId,
  advanceWebhookRebuild,
  type WebhookRebuild,
} from '../../src/publish/rebuild-webhook.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import type { PublishResponse, PublishRequest } from '../../src/publish/process/publish-protocol.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'

const sentRebuild: WebhookRebuild = { commit: toCommitSha('a'.repeat(40)), catalogs: ['catalogs/v4.20'] }
const webhookUrl = 'https://ci.example/hook'
let now: number
let publishOrders: PublishRequest[]
let publishAnswer: PublishResponse

const ctx = {
  installation: 7,
  forge: { repository: { owner: 'coast', name: 'operators' } },
  app: {
    clock: { now: () => now },
    settings: { publishRetrySeconds: 10 },
    publishing: {
      order: (order: PublishRequest) => {
        publishOrders.push(order)
        return Promise.resolve(publishAnswer)
      },
    },
  },
} as unknown as JobContext
const runWebhookStep = (given: WebhookRebuild = sentRebuild) =>
  advanceWebhookRebuild(webhookUrl, given, 'main', ctx)

beforeEach(() => {
  now = 1_000_000
  publishOrders = []
})

describe('a rebuild by webhook', () => {
  test('keeps one delivery id over all attempts', async () => {
    publishAnswer = { kind: 'failed', why: 'it answered 503', retryable: true }
    const first = await runWebhookStep()
    expect(first).toMatchObject({
      next: { attempts: 1, again: now + 10_000 },
      shown: { kind: 'retrying', why: 'it answered 503' },
    })
    // Not before the retry is due.
    expect(await runWebhookStep(first.next)).toEqual({ next: first.next })
    expect(publishOrders).toHaveLength(1)
    now += 10_000
    publishAnswer = { kind: 'delivered', status: 'https://ci.example/1' }
    expect(await runWebhookStep(first.next)).toMatchObject({
      next: { dispatchedAt: now, status: 'https://ci.example/1' },
    })
    expect(new Set(publishOrders.map((order) => order.kind === 'deliver' && order.delivery)).size).toBe(1)
    expect(publishOrders[0]).toMatchObject({
      payload: { repository: 'coast/operators', branch: 'main', ...sentRebuild },
    })
  })

  test('has a different id for another commit, branch, catalog, or repository', () => {
    const other = { ...sentRebuild, commit: toCommitSha('b'.repeat(40)) }
    const ids = [
      computeDeliveryId('coast/operators', 'main', sentRebuild),
      computeDeliveryId('coast/operators', 'v1', sentRebuild),
      computeDeliveryId('coast/others', 'main', sentRebuild),
      computeDeliveryId('coast/operators', 'main', other),
      computeDeliveryId('coast/operators', 'main', { ...sentRebuild, catalogs: [] }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('ends with the reason when it is rejected, cannot be retried, or failed ten times', async () => {
    publishAnswer = { kind: 'refused', why: 'the operator does not allow it' }
    expect(await runWebhookStep()).toEqual({ shown: { kind: 'not-dispatched', why: publishAnswer.why } })
    publishAnswer = { kind: 'failed', why: 'it answered 404', retryable: false }
    expect(await runWebhookStep()).toMatchObject({ shown: { kind: 'not-dispatched' } })
    publishAnswer = { kind: 'failed', why: 'it answered 503', retryable: true }
    expect(await runWebhookStep({ ...sentRebuild, attempts: 9 })).toMatchObject({
      shown: { kind: 'not-dispatched' },
    })
  })

  test('is followed to the end if it has a status URL, and ends as received otherwise', async () => {
    const sent = { ...sentRebuild, dispatchedAt: now, status: 'https://ci.example/1' }
    publishAnswer = { kind: 'followed', state: 'running' }
    expect(await runWebhookStep(sent)).toEqual({ next: sent, shown: { kind: 'running' } })
    publishAnswer = { kind: 'failed', why: 'it answered 503', retryable: true }
    expect(await runWebhookStep(sent)).toEqual({ next: sent, shown: { kind: 'running' } })
    publishAnswer = { kind: 'followed', state: 'failed', url: 'https://ci.example/log' }
    expect(await runWebhookStep(sent)).toEqual({ shown: { kind: 'failed', url: 'https://ci.example/log' } })
    const { status: _status, ...silent } = sent
    expect(await runWebhookStep(silent)).toEqual({ shown: { kind: 'received' } })
  })
})
