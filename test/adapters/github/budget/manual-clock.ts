// A clock that tests advance: the elapsed time, and a wall-clock time that tests can set.
import type { Clock } from '../../../../src/ports/clock.ts'

export interface ManualClock {
  readonly clock: Clock
  /** Advances by this many milliseconds, and wakes each sleeper at its time. */
  advance(milliseconds: number): Promise<void>
  /** Sets the value of `now()`, like setting a machine's clock. */
  set(now: number): void
}

/** Lets pending work that does not sleep finish. */
export const flushEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export function createManualClock(start = Date.UTC(2026, 10, 23, 14, 0)): ManualClock {
  let passed = 0
  let shift = start
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>()
  return {
    clock: {
      now: () => shift + passed,
      elapsed: () => passed,
      sleep: (milliseconds, signal) =>
        new Promise((resolve) => {
          const sleeper = { until: passed + milliseconds, wake: resolve }
          sleepers.add(sleeper)
          signal?.addEventListener('abort', () => {
            sleepers.delete(sleeper)
            resolve()
          })
        }),
    },
    async advance(milliseconds) {
      const end = passed + milliseconds
      for (;;) {
        const due = [...sleepers].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0]
        if (due === undefined) break
        sleepers.delete(due)
        passed = Math.max(passed, due.until)
        due.wake()
        await flushEventLoop()
      }
      passed = end
      await flushEventLoop()
    },
    set: (now) => {
      shift = now - passed
    },
  }
}
