import type { Clock } from '../../../ports/clock.ts'
import { RegistryError } from '../registry-error.ts'

export interface CancelableClock extends Clock {
  /** Every pending and later sleep rejects with a RegistryError (`aborted`). */
  close(): void
}

export function createCancelableClock(clock: Clock): CancelableClock {
  // Uses one controller per sleep, because a client-wide signal would accumulate listeners.
  const sleeping = new Set<AbortController>()
  let closed = false

  function throwIfClosed(): void {
    if (closed) throw new RegistryError('aborted', 'catalog-bot is shutting down')
  }

  return {
    now: () => clock.now(),
    async sleep(milliseconds, signal) {
      throwIfClosed()
      if (signal?.aborted) return
      const woken = new AbortController()
      signal?.addEventListener('abort', () => woken.abort())
      sleeping.add(woken)
      try {
        await clock.sleep(milliseconds, woken.signal)
      } finally {
        sleeping.delete(woken)
      }
      throwIfClosed()
    },
    close() {
      closed = true
      for (const woken of sleeping) woken.abort()
    },
  }
}
