// A clock whose time passes by hand: the spans that it measures, and the hour that it shows, which somebody may set.
import type { Clock } from '../../../../src/ports/clock.ts'

export interface ManualClock {
  readonly clock: Clock
  /** Lets so many milliseconds pass, and wakes who slept, each at its time. */
  advance(milliseconds: number): Promise<void>
  /** Sets what `now()` says, as somebody does who sets a machine's clock. */
  set(now: number): void
}

/** What is under way without waiting comes to its end. */
export const flushEvents = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

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
        await flushEvents()
      }
      passed = end
      await flushEvents()
    },
    set: (now) => {
      shift = now - passed
    },
  }
}
