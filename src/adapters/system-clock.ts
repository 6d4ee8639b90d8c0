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
