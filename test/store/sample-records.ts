// What the store's tests put into a store, and how they wait for it.
import { setTimeout as sleep } from 'node:timers/promises'
import { pullNumber } from '../../src/change/ids.ts'
import { defineCache } from '../../src/ports/cache.ts'
import { defineState } from '../../src/ports/state.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Job } from '../../src/ports/store.ts'

export const clock: Clock = {
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

/** Spaces that take every value that JSON has. */
export const cacheOf = (name: string) => defineCache<unknown>(name, { version: 1, read: (stored) => stored })
export const stateOf = (name: string) => defineState<unknown>(name, { version: 1, read: (stored) => stored })

let names = 0
export const repository = () => ({ owner: 'Owner', name: `Repository-${++names}` })
export const pullJob = (pull: number, of = repository()): Job => ({
  kind: 'pull',
  installation: 1,
  repository: of,
  pull: pullNumber(pull),
})
export const delivery = (guid: string) => ({ guid, event: 'push', body: Buffer.from([0, 255, 1, 123]) })
export async function until(what: () => boolean, seconds = 10): Promise<void> {
  const end = Date.now() + seconds * 1000
  while (!what()) {
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what.toString()}`)
    await sleep(10)
  }
}
