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
  const running = new Set<RunningFetch>()
  const queue: { readonly isAlone: boolean; readonly start: () => void }[] = []
  let idle: PromiseWithResolvers<void> | undefined
  let clock: NodeJS.Timeout | undefined

  function mayStart(isAlone: boolean): boolean {
    if (running.size === 0) return true
    if (isAlone || [...running].some((one) => one.isAlone)) return false
    const soon = performance.now() - limits.slotTimeoutMs
    const fetchesInSlots = [...running].filter(({ since }) => since > soon).length
    return fetchesInSlots < limits.slots && running.size < limits.maxRunning
  }

  function next(): void {
    clearTimeout(clock)
    for (let first = queue[0]; first && mayStart(first.isAlone); first = queue[0]) {
      queue.shift()
      first.start()
    }
    if (queue.length > 0) {
      endOldest()
      clock = setTimeout(next, limits.slotTimeoutMs).unref()
    } else if (running.size === 0) idle?.resolve()
  }

  function endOldest(): void {
    // Sets keep insertion order.
    const [first] = running
    if (!first || first.isAlone || running.size < limits.maxRunning) return
    if (performance.now() - first.since > limits.stoppableAfterMs)
      first.end(new GitError('timeout', 'git fetch: stopped because other fetches were waiting'))
  }

  async function enter<T>(isAlone: boolean, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
    queue.push({
      isAlone,
      start: () => {
        running.add((own = createRunning()))
        slot.resolve()
      },
    })
    next()
    await slot.promise
    try {
      if (why) throw why
      return await work(stopping.signal)
    } catch (error) {
      throw why ?? error
    } finally {
      if (own) running.delete(own)
      next()
    }
  }

  return {
    run: (work) => enter(false, work),
    runExclusively: (work) => enter(true, work),
    stop: (why) => {
      for (const one of running) one.end(why)
    },
    idle: async () => {
      if (running.size === 0 && queue.length === 0) return
      idle ??= Promise.withResolvers()
      await idle.promise
    },
  }
}
