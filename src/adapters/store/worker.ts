// Runs jobs as capacity allows: immediately if enqueued here, within a second if by another instance.
import type { Clock } from '../../ports/clock.ts'
import type { Job } from '../../ports/jobs.ts'
import type { PersistentJobQueue, ClaimedJob } from './jobs.ts'

/** Milliseconds between polls without a wake-up. */
const jobPollIntervalMs = 1000
/**
 * Milliseconds after which a running job frees its slot and continues beside it, so that one slow pull request does not
 * block others. At most as long as reading from GitHub takes: later work has its own limits.
 */
const jobSlotTimeoutMs = 250
/** Limit of concurrent jobs, as a multiple of the slots. */
const maxJobsPerSlot = 10
/** Limit of concurrent jobs, including waiting ones: each takes some kilobytes of memory. */
const maxConcurrentJobs = 2000
/** Heartbeats per silence period: a busy process may miss some. */
const heartbeatsPerTakeoverPeriod = 5

export interface JobWorker {
  wake(): void
  /** Takes no more jobs and resolves when running ones have ended. */
  stop(): Promise<void>
}

export interface JobWorkerOptions {
  readonly jobs: PersistentJobQueue
  readonly clock: Clock
  readonly handler: (job: Job) => Promise<void>
  readonly concurrency: number
  /** The number of running jobs that only wait for other running jobs. */
  readonly waiting?: (() => number) | undefined
  /** Receives rejecting handlers and database failures. The job waits again in either case. */
  readonly problem: (error: unknown, job?: Job) => void
  /** Seconds without a heartbeat after which another process takes over a job. */
  readonly silence: number
}

export function startJobWorker({
  jobs,
  clock,
  handler,
  concurrency,
  waiting = () => 0,
  problem,
  silence,
}: JobWorkerOptions): JobWorker {
  const running = new Map<string, { taken: ClaimedJob; since: number; done: Promise<void> }>()
  const stopping = new AbortController()
  const { signal } = stopping
  let calls = 0
  let answer: (() => void) | undefined
  const wake = () => {
    calls += 1
    answer?.()
  }

  const run = async (taken: ClaimedJob): Promise<void> => {
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
      // The job stays active without heartbeats, and is taken over like a dead process's.
      problem(error, taken.job)
    }
    running.delete(taken.id)
    wake()
  }

  const countFreeSlots = (): number => {
    const soon = clock.now() - jobSlotTimeoutMs
    const jobsInSlots = [...running.values()].filter(
      ({ taken, since }) => taken.job.kind !== 'pull' || since > soon,
    ).length
    const atWork = running.size - waiting()
    return Math.min(
      concurrency - jobsInSlots,
      concurrency * maxJobsPerSlot - atWork,
      maxConcurrentJobs - running.size,
    )
  }

  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const seen = calls
      try {
        const freeSlots = countFreeSlots()
        const taken = freeSlots > 0 ? await jobs.take(freeSlots) : []
        for (const one of taken) running.set(one.id, { taken: one, since: clock.now(), done: run(one) })
        // The batch was full: more jobs may wait, and others may have ended since.
        if (taken.length > 0 && countFreeSlots() > 0) continue
      } catch (error) {
        problem(error)
      }
      if (seen !== calls || signal.aborted) continue
      const called = new Promise<void>((resolve) => (answer = resolve))
      const pause = new AbortController()
      // Without room, checks again when running jobs free their slots.
      await Promise.race([
        called,
        clock.sleep(countFreeSlots() > 0 ? jobPollIntervalMs : jobSlotTimeoutMs, pause.signal),
      ])
      pause.abort()
      answer = undefined
    }
  }

  // Continues until the last jobs end, because they still need heartbeats.
  const over = new AbortController()
  const sendHeartbeats = async (): Promise<void> => {
    for (;;) {
      await clock.sleep((silence / heartbeatsPerTakeoverPeriod) * 1000, over.signal)
      if (over.signal.aborted) return
      try {
        await jobs.touch([...running.values()].map(({ taken }) => taken))
        // Jobs of dead instances, and jobs of this one whose answer was lost.
        // the database alone.
        if ((await jobs.recover(silence)) > 0) wake()
      } catch (error) {
        problem(error)
      }
    }
  }

  const looping = loop()
  const living = sendHeartbeats()
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
