import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../ports/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    const controller = new AbortController()
    if (signal?.aborted) return
    signal?.addEventListener('abort', () => controller.abort())
    await delay(milliseconds, undefined, { signal: controller.signal }).catch(() => undefined)
  },
}

/** Returns whether the work settles within the given milliseconds. The work is not canceled. */
export async function doesPromiseSettleWithin(
  work: Promise<unknown>,
  milliseconds: number,
  clock: Clock,
): Promise<boolean> {
  const over = new AbortController()
  try {
    return await Promise.race([
      work.then(() => true),
      clock.sleep(Math.max(0, milliseconds), over.signal).then(() => false),
    ])
  } finally {
    over.abort()
  }
}
