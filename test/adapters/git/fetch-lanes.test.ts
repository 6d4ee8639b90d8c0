// Which fetches wait when many run in one mirror. The test ends each fetch explicitly.
import { expect, test } from '@jest/globals'
import { GitError } from '../../../src/adapters/git/git-error.ts'
import { FetchScheduler, type FetchSchedulerLimits } from '../../../src/adapters/git/fetch.ts'

const veryLongTimeoutMs = 1_000_000
const defaultFetchSchedulerLimits = {
  slots: 2,
  slotTimeoutMs: veryLongTimeoutMs,
  maxRunning: 4,
  stoppableAfterMs: veryLongTimeoutMs,
}

/** Named fetches: which have started, and a function that ends each. */
function createTestFetchScheduler(limits: Partial<FetchSchedulerLimits> = {}) {
  const lanes = new FetchScheduler({ ...defaultFetchSchedulerLimits, ...limits })
  const startedFetches: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      startedFetches.push(name)
      ends.set(name, () => resolve(name))
      signal.addEventListener('abort', () => reject(new Error('stopped')))
    })
  return {
    lanes,
    begun: startedFetches,
    run: (name: string) => lanes.run(work(name)),
    alone: (name: string) => lanes.runExclusively(work(name)),
    end: async (name: string) => {
      ends.get(name)?.()
      await flushEventLoop()
    },
  }
}
const flushEventLoop = () => new Promise((resolve) => setImmediate(resolve))

test('a few fetches run at once, and the others when a slot is free', async () => {
  const it = createTestFetchScheduler()
  const all = ['a', 'b', 'c', 'd'].map((name) => it.run(name))
  await flushEventLoop()
  expect(it.begun).toEqual(['a', 'b'])
  await it.end('b')
  expect(it.begun).toEqual(['a', 'b', 'c'])
  await it.end('a')
  expect(it.begun).toEqual(['a', 'b', 'c', 'd'])
  await Promise.all([it.end('c'), it.end('d')])
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})

test('slow fetches give up their slots, up to a limit', async () => {
  const it = createTestFetchScheduler({ slotTimeoutMs: 0 })
  for (const name of ['a', 'b', 'c', 'd', 'e']) void it.run(name).catch(() => undefined)
  await flushEventLoop()
  expect(it.begun).toEqual(['a', 'b', 'c', 'd'])
  await it.end('c')
  expect(it.begun).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('the longest fetch times out when the limit of running fetches is reached', async () => {
  const it = createTestFetchScheduler({ slotTimeoutMs: 0, maxRunning: 2, stoppableAfterMs: -1 })
  const longest = it.run('long').catch((error: unknown) => error)
  const second = it.run('second')
  await flushEventLoop()
  const third = it.run('third')
  expect(await longest).toMatchObject({ code: 'timeout', retryable: true })
  await flushEventLoop()
  expect(it.begun).toEqual(['long', 'second', 'third'])
  await Promise.all([it.end('second'), it.end('third')])
  expect(await Promise.all([second, third])).toEqual(['second', 'third'])
})

test('an exclusive fetch runs alone, and no later fetch overtakes it', async () => {
  const it = createTestFetchScheduler()
  void it.run('before')
  void it.alone('alone')
  void it.run('after')
  await flushEventLoop()
  expect(it.begun).toEqual(['before'])
  await it.end('before')
  expect(it.begun).toEqual(['before', 'alone'])
  await it.end('alone')
  expect(it.begun).toEqual(['before', 'alone', 'after'])
})

test('a stopped fetch rejects with the reason, and waiting fetches continue', async () => {
  const it = createTestFetchScheduler({ slots: 1 })
  const running = it.run('running').catch((error: unknown) => error)
  const waiting = it.run('waiting')
  await flushEventLoop()
  it.lanes.stop(new GitError('aborted', 'made anew'))
  expect(await running).toMatchObject({ code: 'aborted' })
  await flushEventLoop()
  await it.end('waiting')
  expect(await waiting).toBe('waiting')
  await it.lanes.idle()
})
