// Adaptive concurrency per host and request kind. A success adds one slot; a rate limit halves the slots once per wave.
import type { Clock } from '../../../ports/clock.ts'

export interface AdaptiveConcurrencyLimit {
  /** Waits for a slot, runs the work, releases the slot. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  succeeded(): void
  /** Halves the window and starts nothing for `pause` milliseconds. */
  limited(pause: number): void
  readonly size: number
  readonly active: number
}

export interface WindowSizes {
  readonly start: number
  readonly max: number
}

export function createAdaptiveWindow(limits: WindowSizes, clock: Clock): AdaptiveConcurrencyLimit {
  let size = limits.start
  let active = 0
  let pausedUntil = 0
  // Work that started before the last halving does not halve it again.
  let epoch = 0
  const waiting: (() => void)[] = []
  let head = 0

  function startNext(): void {
    while (active < size && head < waiting.length) {
      const start = waiting[head]
      head += 1
      // Compacts the queue so that it does not grow without bound.
      if (head > 1024 && head * 2 > waiting.length) {
        waiting.splice(0, head)
        head = 0
      }
      active += 1
      start?.()
    }
  }

  return {
    async run(work) {
      if (active >= size || head < waiting.length) await new Promise<void>((start) => waiting.push(start))
      else active += 1
      try {
        for (let pause = pausedUntil - clock.now(); pause > 0; pause = pausedUntil - clock.now())
          await clock.sleep(pause)
        return await work()
      } finally {
        active -= 1
        startNext()
      }
    },
    succeeded() {
      if (size < limits.max) size += 1
      startNext()
    },
    limited(pause) {
      const now = clock.now()
      if (now >= epoch) {
        size = Math.max(1, Math.floor(size / 2))
        epoch = now + Math.max(pause, 1000)
      }
      pausedUntil = Math.max(pausedUntil, now + pause)
    },
    get size() {
      return size
    },
    get active() {
      return active
    },
  }
}
