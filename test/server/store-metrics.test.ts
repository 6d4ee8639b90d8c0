// What the store's gauges report, even while the store does not respond.
import { expect, test } from '@jest/globals'
import { Registry } from 'prom-client'
import { createStoreMetrics } from '../../src/server/store-metrics.ts'
import type { MergeFreeze } from '../../src/policy/merge-freeze.ts'
import { realTimeClock } from '../adapters/store/sample-records.ts'

const repository = { owner: 'Coast', name: 'Operators' }
const createMergeFreeze = (kind: MergeFreeze['kind'], more: Partial<MergeFreeze> = {}): MergeFreeze => ({
  repository,
  branch: 'main',
  kind,
  reason: '',
  by: { kind: 'bot' },
  since: 1,
  times: 1,
  ...more,
})

const fakeStoreState = { isSilent: false, now: 1_000_000 }
const fakeStore = {
  waitingJobs: () =>
    fakeStoreState.isSilent
      ? Promise.reject(new Error('gone'))
      : Promise.resolve([{ kind: 'pull' as const, waiting: 3, running: 2, oldestSeconds: 40 }]),
  countOpenPulls: () =>
    Promise.resolve([{ repository: 'coast/operators', verdict: 'wait' as const, pulls: 4 }]),
  listFreezes: () =>
    Promise.resolve([
      createMergeFreeze('frozen'),
      createMergeFreeze('audit', { branch: undefined }),
      // This freeze has expired: one merge is attempted, so the branch doesn't count as frozen.
      createMergeFreeze('refused', { tryAgainAt: 999_999 }),
    ]),
}

test('reports the queue, open pull requests, and active freezes, even if they are zero', async () => {
  const registry = new Registry()
  const read = createStoreMetrics(registry, fakeStore as never, {
    ...realTimeClock,
    now: () => fakeStoreState.now,
  })
  await read()
  const text = await registry.metrics()
  for (const line of [
    'catalog_bot_queue_jobs{kind="pull",state="waiting"} 3',
    'catalog_bot_queue_jobs{kind="pull",state="running"} 2',
    'catalog_bot_queue_jobs{kind="scan",state="waiting"} 0',
    'catalog_bot_queue_oldest_seconds{kind="pull"} 40',
    'catalog_bot_open_pulls{repository="coast/operators",verdict="wait"} 4',
    'catalog_bot_open_pulls{repository="coast/operators",verdict="merge"} 0',
    'catalog_bot_stopped_branches{repository="coast/operators",kind="frozen"} 1',
    'catalog_bot_stopped_branches{repository="coast/operators",kind="audit"} 1',
    'catalog_bot_stopped_branches{repository="coast/operators",kind="refused"} 0',
    'catalog_bot_store_unread 0',
  ])
    expect(text).toContain(line)
  fakeStoreState.isSilent = true
  fakeStoreState.now += 10_000
  await read()
  expect(await registry.metrics()).toContain('catalog_bot_store_unread 1')
})
