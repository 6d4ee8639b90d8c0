// Fetches into one mirror, some at a time: whoever opens a pull request chooses how large its pack is, and no other one
// waits for that. A fetch that takes long leaves its place to the next and goes on beside it; when too many do, the
// longest gives up.
import { GitError } from './git-error.ts'

/** At once: each is some processes, and most of the time it waits for the server. */
const places = 3
/** Milliseconds after which a fetch leaves its place. An update of some packages is here in half of that. */
const patience = 1500
/** With those that left their places. */
const most = 8
/** Milliseconds after which a fetch may be ended when others wait and no more may go on beside. */
const longest = 60_000

export interface FetchLanes {
  /** `work` ends soon after its signal says so, and rejects. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** With no other fetch beside it: those that come wait, those that run have ended. */
  alone<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Ends all that run. They reject with `why`. */
  stop(why: GitError): void
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>
}

export interface FetchLaneLimits {
  readonly places: number
  readonly patience: number
  readonly most: number
  readonly longest: number
}

interface Running {
  readonly since: number
  readonly isAlone: boolean
  readonly end: (why: GitError) => void
}

export function openFetchLanes(limits: FetchLaneLimits = { places, patience, most, longest }): FetchLanes {
  const running = new Set<Running>()
  const queue: { readonly isAlone: boolean; readonly start: () => void }[] = []
  let idle: PromiseWithResolvers<void> | undefined
  let clock: NodeJS.Timeout | undefined

  function mayStart(isAlone: boolean): boolean {
    if (running.size === 0) return true
    if (isAlone || [...running].some((one) => one.isAlone)) return false
    const soon = performance.now() - limits.patience
    const inPlace = [...running].filter(({ since }) => since > soon).length
    return inPlace < limits.places && running.size < limits.most
  }

  function next(): void {
    clearTimeout(clock)
    for (let first = queue[0]; first && mayStart(first.isAlone); first = queue[0]) {
      queue.shift()
      first.start()
    }
    if (queue.length > 0) {
      endLongest()
      clock = setTimeout(next, limits.patience).unref()
    } else if (running.size === 0) idle?.resolve()
  }

  function endLongest(): void {
    // Sets keep the order in which things came.
    const [first] = running
    if (!first || first.isAlone || running.size < limits.most) return
    if (performance.now() - first.since > limits.longest)
      first.end(new GitError('timeout', 'git fetch: others waited'))
  }

  async function enter<T>(isAlone: boolean, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const turn = Promise.withResolvers<void>()
    const stopping = new AbortController()
    let why: GitError | undefined
    const here = (): Running => ({
      since: performance.now(),
      isAlone,
      end: (reason) => {
        why = reason
        stopping.abort()
      },
    })
    let place: Running | undefined
    queue.push({
      isAlone,
      start: () => {
        running.add((place = here()))
        turn.resolve()
      },
    })
    next()
    await turn.promise
    try {
      if (why) throw why
      return await work(stopping.signal)
    } catch (error) {
      throw why ?? error
    } finally {
      if (place) running.delete(place)
      next()
    }
  }

  return {
    run: (work) => enter(false, work),
    alone: (work) => enter(true, work),
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
