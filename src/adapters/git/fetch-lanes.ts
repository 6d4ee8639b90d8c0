// Limits concurrent fetches into one mirror. A long fetch gives its slot to the next and goes on beside it; when too
// many do, the longest is stopped.
import { GitError } from './git-error.ts'

/** Concurrent fetches. Each has several processes and usually waits for the server. */
const maxFetchSlots = 3
/** Milliseconds until a fetch gives up its slot. An update of some packages takes half of that. */
const fetchSlotTimeoutMs = 1500
/** Including those that gave up their slots. */
const maxRunningFetches = 8
/** Milliseconds after which a fetch may be stopped if others wait and the limit is reached. */
const minFetchMsBeforePreemption = 60_000

export interface FetchScheduler {
  /** `work` must end soon after its signal aborts, and reject. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Runs with no other fetch: waits for running ones and holds back new ones. */
  runExclusively<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Stops all. They reject with `why`. */
  stop(why: GitError): void
  idle(): Promise<void>
}

export interface FetchSchedulerLimits {
  readonly slots: number
  readonly slotTimeoutMs: number
  readonly maxRunning: number
  readonly stoppableAfterMs: number
}

interface RunningFetch {
  readonly since: number
  readonly isAlone: boolean
  readonly end: (why: GitError) => void
}

export function createFetchScheduler(
  limits: FetchSchedulerLimits = {
    slots: maxFetchSlots,
    slotTimeoutMs: fetchSlotTimeoutMs,
    maxRunning: maxRunningFetches,
    stoppableAfterMs: minFetchMsBeforePreemption,
  },
): FetchScheduler {
  return new FetchLanes(limits)
}

class FetchLanes implements FetchScheduler {
  readonly #limits: FetchSchedulerLimits
  readonly #running = new Set<RunningFetch>()
  readonly #queue: { readonly isAlone: boolean; readonly start: () => void }[] = []
  #idle: PromiseWithResolvers<void> | undefined
  #clock: NodeJS.Timeout | undefined

  constructor(limits: FetchSchedulerLimits) {
    this.#limits = limits
  }

  readonly run: FetchScheduler['run'] = (work) => this.#enter(false, work)

  readonly runExclusively: FetchScheduler['runExclusively'] = (work) => this.#enter(true, work)

  readonly stop: FetchScheduler['stop'] = (why) => {
    for (const one of this.#running) one.end(why)
  }

  readonly idle: FetchScheduler['idle'] = async () => {
    if (this.#running.size === 0 && this.#queue.length === 0) return
    this.#idle ??= Promise.withResolvers()
    await this.#idle.promise
  }

  #mayStart(isAlone: boolean): boolean {
    if (this.#running.size === 0) return true
    if (isAlone || [...this.#running].some((one) => one.isAlone)) return false
    const soon = performance.now() - this.#limits.slotTimeoutMs
    const fetchesInSlots = [...this.#running].filter(({ since }) => since > soon).length
    return fetchesInSlots < this.#limits.slots && this.#running.size < this.#limits.maxRunning
  }

  #next(): void {
    clearTimeout(this.#clock)
    for (let first = this.#queue[0]; first && this.#mayStart(first.isAlone); first = this.#queue[0]) {
      this.#queue.shift()
      first.start()
    }
    if (this.#queue.length > 0) {
      this.#endOldest()
      this.#clock = setTimeout(() => this.#next(), this.#limits.slotTimeoutMs).unref()
    } else if (this.#running.size === 0) this.#idle?.resolve()
  }

  #endOldest(): void {
    // Sets keep insertion order.
    const [first] = this.#running
    if (!first || first.isAlone || this.#running.size < this.#limits.maxRunning) return
    if (performance.now() - first.since > this.#limits.stoppableAfterMs)
      first.end(new GitError('timeout', 'git fetch: stopped because other fetches were waiting'))
  }

  async #enter<T>(isAlone: boolean, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const slot = Promise.withResolvers<void>()
    const stopping = new AbortController()
    let why: GitError | undefined
    const createRunning = (): RunningFetch => ({
      since: performance.now(),
      isAlone,
      end: (reason) => {
        why = reason
        stopping.abort()
      },
    })
    let own: RunningFetch | undefined
    this.#queue.push({
      isAlone,
      start: () => {
        this.#running.add((own = createRunning()))
        slot.resolve()
      },
    })
    this.#next()
    await slot.promise
    try {
      if (why) throw why
      return await work(stopping.signal)
    } catch (error) {
      throw why ?? error
    } finally {
      if (own) this.#running.delete(own)
      this.#next()
    }
  }
}
