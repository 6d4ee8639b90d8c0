// Decides what happens next in a run, by reproducible chance. Every request from catalog-bot to the outside waits
// here as a call until its turn comes. Between any two calls, any other event can happen, and a process can end
// permanently.
import type { Clock } from '../src/ports/clock.ts'
import { computeSeededRandom } from './seeded-random.ts'

/** A catalog-bot process. Its pending calls are never answered after it dies. */
export interface SimulatedProcess {
  readonly name: string
  isAlive: boolean
  /** Until this time, the process is paused and does not notice it, like a paused virtual machine. */
  pausedUntil: number
  /** How far the process clock is ahead of the simulated clock, in milliseconds. */
  skew: number
}

/**
 * A fault of one call. `before`: the call fails and has no effect. `after`: the call takes effect, but its answer
 * is lost.
 */
export interface CallFault {
  readonly when: 'before' | 'after'
  readonly error: () => Error
}

/** The destination of a call. It determines the possible faults. */
export type CallDestination = 'github' | 'git' | 'push' | 'merge' | 'store' | 'registry'

export interface PendingCall {
  readonly process: SimulatedProcess
  readonly to: CallDestination
  readonly label: string
  /** Called when the call is answered with a simulated error. */
  readonly onInjury?: () => void
}

interface ResumableCall extends PendingCall {
  readonly order: number
  readonly go: (injury: CallFault | undefined) => void
}

interface SleepingProcess {
  readonly process: SimulatedProcess
  readonly until: number
  readonly order: number
  readonly wake: () => void
}

export interface SchedulerChoice {
  readonly label: string
  readonly take: () => void
}

export interface SchedulerOptions {
  readonly seed: number
  /**
   * Other events that can happen now, for example a delivery arrives or a job is taken. Their order depends only on
   * the simulated state.
   */
  readonly others: () => readonly SchedulerChoice[]
  /** The fault of a call that is about to be made. */
  readonly injure: (call: PendingCall, step: number) => CallFault | 'crash' | undefined
  /** Events that happen before anything else at this step: user actions and faults of whole machines. */
  readonly before: (step: number) => void
  /** The time of the next automatic event. Undefined if no event is scheduled. */
  readonly nextEvent: () => number | undefined
  readonly onStep?: (line: string) => void
}

/** The minimum and maximum duration of a step, in milliseconds. */
const stepDurationRangeMs = { least: 20, most: 700 }

export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #waiting: ResumableCall[] = []
  readonly #sleeping: SleepingProcess[] = []
  #orders = 0
  /** Milliseconds since the epoch, by the simulated clock. */
  now: number
  step = 0

  constructor(options: SchedulerOptions, start: number) {
    this.#options = options
    this.now = start
  }

  /** Runs `act` atomically when its turn comes. A dead process waits forever. */
  call<T>(call: PendingCall, act: () => T): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const go = (injury: CallFault | undefined) => {
      try {
        if (injury?.when === 'before') throw injury.error()
        const result = act()
        if (injury?.when === 'after') throw injury.error()
        resolve(result)
      } catch (error) {
        reject(error)
      }
    }
    this.#waiting.push({ ...call, order: (this.#orders += 1), go })
    return promise
  }

  clockOf(process: SimulatedProcess): Clock {
    return {
      now: () => this.now + process.skew,
      sleep: (milliseconds, signal) => {
        if (signal?.aborted) return Promise.resolve()
        const { promise, resolve } = Promise.withResolvers<void>()
        const sleeping: SleepingProcess = {
          process,
          until: this.now + Math.max(0, milliseconds),
          order: (this.#orders += 1),
          wake: resolve,
        }
        this.#sleeping.push(sleeping)
        signal?.addEventListener('abort', () => {
          const at = this.#sleeping.indexOf(sleeping)
          if (at >= 0) this.#sleeping.splice(at, 1)
          resolve()
        })
        return promise
      },
    }
  }

  /** Whether a process has pending calls here. */
  isBusy(process: SimulatedProcess): boolean {
    return (
      this.#waiting.some((one) => one.process === process) ||
      this.#sleeping.some((one) => one.process === process)
    )
  }

  /** Takes steps until nothing is due before `until()`, or until `isOver` returns true. */
  async run(until: () => number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await waitForIdlePromises()
      const { step } = this
      // User actions between two calls are visible to the later call only.
      this.step += 1
      this.#options.before(step)
      await waitForIdlePromises()
      this.#forgetDead()
      const choices = [...this.#calls(), ...this.#wakings(), ...this.#options.others()]
      const choice = choices[Math.floor(computeSeededRandom(this.#options.seed, step, 1) * choices.length)]
      if (choice !== undefined) {
        this.#options.onStep?.(`${this.step} ${this.#time()} ${choice.label}`)
        this.now +=
          stepDurationRangeMs.least +
          Math.floor(
            computeSeededRandom(this.#options.seed, this.step, 2) *
              (stepDurationRangeMs.most - stepDurationRangeMs.least),
          )
        choice.take()
        continue
      }
      const next = this.#nextMoment()
      if (next === undefined || next > until()) return
      this.now = Math.max(this.now + 1, next)
    }
  }

  #time(): string {
    return new Date(this.now).toISOString().slice(11, 23)
  }

  #isStill({ pausedUntil }: SimulatedProcess): boolean {
    return pausedUntil > this.now
  }

  #forgetDead(): void {
    for (const list of [this.#waiting, this.#sleeping])
      for (let at = list.length - 1; at >= 0; at--) if (!list[at]?.process.isAlive) list.splice(at, 1)
  }

  #calls(): readonly SchedulerChoice[] {
    return this.#waiting
      .filter(({ process }) => !this.#isStill(process))
      .toSorted(compareCallOrder)
      .map((waiting) => ({
        label: `${waiting.process.name} ${waiting.label}`,
        take: () => {
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
          const injury = this.#options.injure(waiting, this.step)
          if (injury === 'crash') waiting.process.isAlive = false
          else waiting.go(injury)
        },
      }))
  }

  #wakings(): readonly SchedulerChoice[] {
    return this.#sleeping
      .filter(({ process, until }) => until <= this.now && !this.#isStill(process))
      .toSorted((a, b) => a.order - b.order)
      .map((sleeping) => ({
        label: `${sleeping.process.name} wakes`,
        take: () => {
          this.#sleeping.splice(this.#sleeping.indexOf(sleeping), 1)
          sleeping.wake()
        },
      }))
  }

  #nextMoment(): number | undefined {
    const moments = [
      ...this.#sleeping.map(({ until, process }) => Math.max(until, process.pausedUntil)),
      ...this.#waiting.map(({ process }) => process.pausedUntil),
    ]
    const next = this.#options.nextEvent()
    if (next !== undefined) moments.push(next)
    return moments.length === 0 ? undefined : Math.min(...moments)
  }
}

/**
 * Concurrent calls of one job are ordered by name, because the order in which the job made them is not part of the
 * simulated state.
 */
function compareCallOrder(a: ResumableCall, b: ResumableCall): number {
  const keyOf = ({ process, label }: ResumableCall) => `${process.name} ${label}`
  const [first, second] = [keyOf(a), keyOf(b)]
  return first < second ? -1 : first > second ? 1 : a.order - b.order
}

/** Resolves when no promise has pending work. */
function waitForIdlePromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
