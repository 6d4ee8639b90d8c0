// Sample records for tests of the store, and a clock and a wait for them.
import { setTimeout as sleep } from 'node:timers/promises'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import { defineCacheNamespace } from '../../../src/ports/cache.ts'
import { defineStateNamespace } from '../../../src/ports/state.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Job } from '../../../src/ports/store.ts'

export const realTimeClock: Clock = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, signal?.aborted ? 0 : milliseconds)
      timer.unref()
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

/** Namespaces that accept any JSON value. */
export const createCacheNamespace = (name: string) =>
  defineCacheNamespace<unknown>(name, 1, (stored) => stored)
export const createStateNamespace = (name: string) =>
  defineStateNamespace<unknown>(name, 1, (stored) => stored)

let createdRepositoryCount = 0
export const createRepositoryName = () => ({ owner: 'Owner', name: `Repository-${++createdRepositoryCount}` })
export const createPullJob = (pull: number, of = createRepositoryName()): Job => ({
  kind: 'pull',
  installation: 1,
  repository: of,
  pull: toPullNumber(pull),
})
export const createPushDelivery = (guid: string) => ({
  guid,
  event: 'push',
  body: Buffer.from([0, 255, 1, 123]),
})
export async function waitUntil(what: () => boolean, seconds = 10): Promise<void> {
  const end = Date.now() + seconds * 1000
  while (!what()) {
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what.toString()}`)
    await sleep(10)
  }
}
