// The steps of a rebuild by webhook. The test provides the answers of the publishing process.
import { beforeEach, describe, expect, test } from '@jest/globals'
import { computeWebhookDeliveryId, advanceWebhookRebuild } from '../../src/publish/rebuild.ts'
import type { PendingRebuild } from '../../src/jobs/branch-state.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import type { PublishResponse, PublishRequest } from '../../src/publish/process/publish-protocol.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'

const pendingWebhookRebuild: PendingRebuild = {
  commit: toCommitSha('a'.repeat(40)),
  catalogs: ['catalogs/v4.20'],
}
const webhookUrl = 'https://ci.example/hook'
let currentTimeMs: number
let publishRequests: PublishRequest[]
let publishResponse: PublishResponse

const jobContext = {
  installation: 7,
  forge: { repository: { owner: 'coast', name: 'operators' } },
  app: {
    clock: { now: () => currentTimeMs },
    settings: { publishRetrySeconds: 10 },
    publishing: {
      order: (order: PublishRequest) => {
        publishRequests.push(order)
        return Promise.resolve(publishResponse)
      },
    },
  },
} as unknown as JobContext
const advanceTestWebhookRebuild = (given: PendingRebuild = pendingWebhookRebuild) =>
  advanceWebhookRebuild(webhookUrl, given, 'main', jobContext)

beforeEach(() => {
  currentTimeMs = 1_000_000
  publishRequests = []
})

describe('a rebuild by webhook', () => {
  test('keeps one delivery id over all attempts', async () => {
    publishResponse = { kind: 'failed', why: 'it answered 503', retryable: true }
    const first = await advanceTestWebhookRebuild()
    expect(first).toMatchObject({
      next: { attempts: 1, again: currentTimeMs + 10_000 },
      shown: { kind: 'retrying', why: 'it answered 503' },
    })
    // Not before the retry is due.
    expect(await advanceTestWebhookRebuild(first.next)).toEqual({ next: first.next })
    expect(publishRequests).toHaveLength(1)
    currentTimeMs += 10_000
    publishResponse = { kind: 'delivered', status: 'https://ci.example/1' }
    expect(await advanceTestWebhookRebuild(first.next)).toMatchObject({
      next: { dispatchedAt: currentTimeMs, status: 'https://ci.example/1' },
    })
    expect(new Set(publishRequests.map((order) => order.kind === 'deliver' && order.delivery)).size).toBe(1)
    expect(publishRequests[0]).toMatchObject({
      payload: { repository: 'coast/operators', branch: 'main', ...pendingWebhookRebuild },
    })
  })

  test('has a different id for another commit, branch, catalog, or repository', () => {
    const other = { ...pendingWebhookRebuild, commit: toCommitSha('b'.repeat(40)) }
    const ids = [
      computeWebhookDeliveryId('coast/operators', 'main', pendingWebhookRebuild),
      computeWebhookDeliveryId('coast/operators', 'v1', pendingWebhookRebuild),
      computeWebhookDeliveryId('coast/others', 'main', pendingWebhookRebuild),
      computeWebhookDeliveryId('coast/operators', 'main', other),
      computeWebhookDeliveryId('coast/operators', 'main', { ...pendingWebhookRebuild, catalogs: [] }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('ends with the reason when it is rejected, cannot be retried, or failed ten times', async () => {
    publishResponse = { kind: 'refused', why: 'the operator does not allow it' }
    expect(await advanceTestWebhookRebuild()).toEqual({
      shown: { kind: 'not-dispatched', why: publishResponse.why },
    })
    publishResponse = { kind: 'failed', why: 'it answered 404', retryable: false }
    expect(await advanceTestWebhookRebuild()).toMatchObject({ shown: { kind: 'not-dispatched' } })
    publishResponse = { kind: 'failed', why: 'it answered 503', retryable: true }
    expect(await advanceTestWebhookRebuild({ ...pendingWebhookRebuild, attempts: 9 })).toMatchObject({
      shown: { kind: 'not-dispatched' },
    })
  })

  test('is followed to the end if it has a status URL, and ends as received otherwise', async () => {
    const sent = { ...pendingWebhookRebuild, dispatchedAt: currentTimeMs, status: 'https://ci.example/1' }
    publishResponse = { kind: 'followed', state: 'running' }
    expect(await advanceTestWebhookRebuild(sent)).toEqual({ next: sent, shown: { kind: 'running' } })
    publishResponse = { kind: 'failed', why: 'it answered 503', retryable: true }
    expect(await advanceTestWebhookRebuild(sent)).toEqual({ next: sent, shown: { kind: 'running' } })
    publishResponse = { kind: 'followed', state: 'failed', url: 'https://ci.example/log' }
    expect(await advanceTestWebhookRebuild(sent)).toEqual({
      shown: { kind: 'failed', url: 'https://ci.example/log' },
    })
    const { status: _status, ...silent } = sent
    expect(await advanceTestWebhookRebuild(silent)).toEqual({ shown: { kind: 'received' } })
  })
})
