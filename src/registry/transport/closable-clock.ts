// The clock of those who wait for a registry, until their client is closed: then nobody goes on waiting.
import type { Clock } from '../../ports/clock.ts'
import { RegistryError } from '../registry-error.ts'

export interface ClosableClock extends Clock {
  /** Every sleep, now and later, rejects with a RegistryError (`aborted`). */
  close(): void
}

export function closableClock(clock: Clock): ClosableClock {
  // One for each sleep: a signal that lives as long as the client would keep the listeners of all that ever slept.
  const sleeping = new Set<AbortController>()
  let closed = false

  function goOn(): void {
    if (closed) throw new RegistryError('aborted', 'the bot is shutting down')
  }

  return {
    now: () => clock.now(),
    async sleep(milliseconds, signal) {
      goOn()
      if (signal?.aborted) return
      const woken = new AbortController()
      signal?.addEventListener('abort', () => woken.abort())
      sleeping.add(woken)
      try {
        await clock.sleep(milliseconds, woken.signal)
      } finally {
        sleeping.delete(woken)
      }
      goOn()
    },
    close() {
      closed = true
      for (const woken of sleeping) woken.abort()
    },
  }
}
