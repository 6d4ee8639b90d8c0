// A clock that moves only by sleeping: waits cost no time, and are written down.
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
