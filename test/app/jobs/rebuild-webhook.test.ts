// The steps of a rebuild by webhook, with the publishing process's answers given by the test.
import { beforeEach, describe, expect, test } from '@jest/globals'
import { deliveryId, stepWebhook, type SentRebuild } from '../../../src/app/jobs/rebuild-webhook.ts'
import type { JobContext } from '../../../src/app/jobs/job-context.ts'
import type { PublishAnswer, PublishOrder } from '../../../src/app/publishing/publish-order.ts'
import { commitSha } from '../../../src/change/ids.ts'

const rebuild: SentRebuild = { commit: commitSha('a'.repeat(40)), catalogs: ['catalogs/v4.20'] }
const url = 'https://ci.example/hook'
let now: number
let orders: PublishOrder[]
let answer: PublishAnswer

const place = {
  installation: 7,
  forge: { repository: { owner: 'coast', name: 'operators' } },
  app: {
    clock: { now: () => now },
    settings: { publishRetrySeconds: 10 },
    publishing: {
      order: (order: PublishOrder) => {
        orders.push(order)
        return Promise.resolve(answer)
      },
    },
  },
} as unknown as JobContext
const step = (given: SentRebuild = rebuild) => stepWebhook(url, given, 'main', place)

beforeEach(() => {
  now = 1_000_000
  orders = []
})

describe('a rebuild by webhook', () => {
  test('is sent under one id, however often', async () => {
    answer = { kind: 'failed', why: 'it answered 503', retryable: true }
    const first = await step()
    expect(first).toMatchObject({
      next: { attempts: 1, again: now + 10_000 },
      shown: { kind: 'retrying', why: 'it answered 503' },
    })
    // Not before its time.
    expect(await step(first.next)).toEqual({ next: first.next })
    expect(orders).toHaveLength(1)
    now += 10_000
    answer = { kind: 'delivered', status: 'https://ci.example/1' }
    expect(await step(first.next)).toMatchObject({
      next: { dispatchedAt: now, status: 'https://ci.example/1' },
    })
    expect(new Set(orders.map((order) => order.kind === 'deliver' && order.delivery)).size).toBe(1)
    expect(orders[0]).toMatchObject({
      payload: { repository: 'coast/operators', branch: 'main', ...rebuild },
    })
  })

  test('has another id for another commit, branch, catalog or repository', () => {
    const other = { ...rebuild, commit: commitSha('b'.repeat(40)) }
    const ids = [
      deliveryId('coast/operators', 'main', rebuild),
      deliveryId('coast/operators', 'v1', rebuild),
      deliveryId('coast/others', 'main', rebuild),
      deliveryId('coast/operators', 'main', other),
      deliveryId('coast/operators', 'main', { ...rebuild, catalogs: [] }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('ends with why, when it is refused or not taken ten times', async () => {
    answer = { kind: 'refused', why: 'the operator does not allow it' }
    expect(await step()).toEqual({ shown: { kind: 'not-dispatched', why: answer.why } })
    answer = { kind: 'failed', why: 'it answered 404', retryable: false }
    expect(await step()).toMatchObject({ shown: { kind: 'not-dispatched' } })
    answer = { kind: 'failed', why: 'it answered 503', retryable: true }
    expect(await step({ ...rebuild, attempts: 9 })).toMatchObject({ shown: { kind: 'not-dispatched' } })
  })

  test('is followed to its end where it tells of one, and not beyond', async () => {
    const sent = { ...rebuild, dispatchedAt: now, status: 'https://ci.example/1' }
    answer = { kind: 'followed', state: 'running' }
    expect(await step(sent)).toEqual({ next: sent, shown: { kind: 'running' } })
    answer = { kind: 'failed', why: 'it answered 503', retryable: true }
    expect(await step(sent)).toEqual({ next: sent, shown: { kind: 'running' } })
    answer = { kind: 'followed', state: 'failed', url: 'https://ci.example/log' }
    expect(await step(sent)).toEqual({ shown: { kind: 'failed', url: 'https://ci.example/log' } })
    const { status: _status, ...silent } = sent
    expect(await step(silent)).toEqual({ shown: { kind: 'received' } })
  })
})
