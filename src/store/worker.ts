// Works jobs off: takes as many as there is room for, at once when one was enqueued here, within a second when another
// instance did, and says of those it works on that they are.
import type { Clock } from '../ports/clock.ts'
import type { Job } from '../ports/jobs.ts'
import type { Jobs, Taken } from './jobs.ts'

/** Milliseconds between two looks when nothing calls. */
const poll = 1000
/**
 * Milliseconds after which a look at a pull request leaves its place to the next one and goes on beside it: what one
 * pull request makes slow keeps no other waiting. No longer than what is read of GitHub takes: what comes then is fetched
 * and looked at in lanes of its own, each with its own bound.
 */
const patience = 250
/** Times as many jobs as there are places, at once. */
const mostBeside = 10
/** Jobs at once, with those that only wait: each of them is some kilobytes of memory. */
const mostAtAll = 2000
/** Signs of life in the time after which a job is taken to be a dead process's: a process may be only busy. */
const beats = 5

export interface Worker {
  /** There may be something to do. */
  wake(): void
  /** Takes no more jobs and resolves when those that run have ended. */
  stop(): Promise<void>
}

export interface WorkerOptions {
  readonly jobs: Jobs
  readonly clock: Clock
  readonly handler: (job: Job) => Promise<void>
  readonly concurrency: number
  /** How many of those that run only wait for others of them. */
  readonly waiting?: (() => number) | undefined
  /** Hears of handlers that reject and of databases that do not answer. The job waits again in any case. */
  readonly problem: (error: unknown, job?: Job) => void
  /** Seconds without a sign of life after which a job is taken to be a dead process's, and is given to another. */
  readonly silence: number
}

export function startWorker({
  jobs,
  clock,
  handler,
  concurrency,
  waiting = () => 0,
  problem,
  silence,
}: WorkerOptions): Worker {
  const running = new Map<string, { taken: Taken; since: number; done: Promise<void> }>()
  const stopping = new AbortController()
  const { signal } = stopping
  let calls = 0
  let answer: (() => void) | undefined
  const wake = () => {
    calls += 1
    answer?.()
  }

  const run = async (taken: Taken): Promise<void> => {
    let failure: { readonly error: unknown } | undefined
    try {
      await handler(taken.job)
    } catch (error) {
      failure = { error }
      problem(error, taken.job)
    }
    try {
      await (failure ? jobs.fail(taken, failure.error) : jobs.complete(taken))
    } catch (error) {
      // It stays active without a sign of life, and is taken again like a dead process's.
      problem(error, taken.job)
    }
    running.delete(taken.id)
    wake()
  }

  /** How many more may be taken now. */
  const roomLeft = (): number => {
    const soon = clock.now() - patience
    const inPlace = [...running.values()].filter(
      ({ taken, since }) => taken.job.kind !== 'pull' || since > soon,
    ).length
    const atWork = running.size - waiting()
    return Math.min(concurrency - inPlace, concurrency * mostBeside - atWork, mostAtAll - running.size)
  }

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const seen = calls
      try {
        const room = roomLeft()
        const taken = room > 0 ? await jobs.take(room) : []
        for (const one of taken) running.set(one.id, { taken: one, since: clock.now(), done: run(one) })
        // As many as asked for: there may be more, and others may have ended meanwhile.
        if (taken.length > 0 && roomLeft() > 0) continue
      } catch (error) {
        problem(error)
      }
      if (seen !== calls || signal.aborted) continue
      const called = new Promise<void>((resolve) => (answer = resolve))
      const pause = new AbortController()
      // Where there is no room, there is as soon as those that run have left their places.
      await Promise.race([called, clock.sleep(roomLeft() > 0 ? poll : patience, pause.signal)])
      pause.abort()
      answer = undefined
    }
  }

  // Goes on while the last jobs end: they too need signs of life.
  const over = new AbortController()
  const live = async (): Promise<void> => {
    for (;;) {
      await clock.sleep((silence / beats) * 1000, over.signal)
      if (over.signal.aborted) return
      try {
        await jobs.touch([...running.values()].map(({ taken }) => taken))
        // Other instances' dead jobs, and those of this one whose answer was lost with a connection: they are active in
        // the database alone.
        if ((await jobs.recover(silence)) > 0) wake()
      } catch (error) {
        problem(error)
      }
    }
  }

  const looping = loop()
  const living = live()
  return {
    wake,
    stop: async () => {
      stopping.abort()
      wake()
      await looping
      await Promise.all([...running.values()].map(({ done }) => done))
      over.abort()
      await living
    },
  }
}
