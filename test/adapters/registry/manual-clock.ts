// A clock that advances only when code sleeps, so waits take no time, and records the waits.
import type { Clock } from '../../../src/ports/clock.ts'

export interface ManualClock extends Clock {
  readonly slept: number[]
  advance(milliseconds: number): void
}

export function createManualClock(start = Date.UTC(2026, 10, 1)): ManualClock {
  let now = start
  const slept: number[] = []
  return {
    slept,
    now: () => now,
    async sleep(milliseconds) {
      slept.push(milliseconds)
      now += milliseconds
    },
    advance: (milliseconds) => void (now += milliseconds),
  }
}
