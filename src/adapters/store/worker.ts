// Runs jobs as capacity allows. A job starts immediately if this instance enqueued it, and within a second if another
// instance did.
import type { Clock } from '../../ports/clock.ts'
import type { IdleJobCounts, Job } from '../../ports/jobs.ts'
import { toJobKey, type PersistentJobQueue, type ClaimedJob } from './jobs.ts'

/** Milliseconds between polls without a wake-up. */
const jobPollIntervalMs = 1000
/**
 * Milliseconds after which a running job frees its slot and continues beside it, so that one slow pull request does not
 * block others. At most as long as reading from GitHub takes: later work has its own limits.
 */
const jobSlotReleaseDelayMs = 250
/** Limit of concurrent jobs, as a multiple of the slots. */
const concurrentJobsMultiplier = 10
/** Limit of concurrent jobs, including waiting ones: each takes some kilobytes of memory. */
const maxConcurrentJobs = 2000
/** Heartbeats per silence period: a busy process may miss some. */
const heartbeatsPerTakeoverPeriod = 5

export interface JobWorkerOptions {
  readonly jobs: PersistentJobQueue
  readonly clock: Clock
  readonly handler: (job: Job) => Promise<void>
  readonly concurrency: number
  readonly idle?: IdleJobCounts | undefined
  /** Receives rejecting handlers and database failures. The job waits again in either case. */
  readonly problem: (error: unknown, job?: Job) => void
  /** Seconds without a heartbeat after which another process takes over a job. */
  readonly silence: number
}

export class JobWorker {
  readonly #options
  readonly #running = new Map<string, { taken: ClaimedJob; since: number; done: Promise<void> }>()
  readonly #stopping = new AbortController()
  #calls = 0
  #answer: (() => void) | undefined
  #isTaking = false
  /** Whether jobs may wait for a slot. */
  #isFull = false
  /** Keys of enqueued jobs that may wait for a running one. */
  readonly #awaited = new Set<string>()
  // Continues until the last jobs end, because they still need heartbeats.
  readonly #over = new AbortController()
  readonly #looping
  readonly #living

  constructor(options: JobWorkerOptions) {
    this.#options = options
    this.#looping = this.#loop()
    this.#living = this.#sendHeartbeats()
  }

  /** Takes the job now, or when the running job of its key ends. */
  readonly expect = (job: Job, afterSeconds = 0): void => {
    const key = toJobKey(job)
    const isRunning = this.#isRunning(key)
    if (isRunning || this.#isTaking) this.#awaited.add(key)
    if (!isRunning && afterSeconds === 0) this.#wake()
  }

  #isRunning(key: string): boolean {
    return [...this.#running.values()].some(({ taken }) => taken.key === key)
  }

  #wake(): void {
    this.#calls += 1
    this.#answer?.()
  }

  /** Takes no more jobs and resolves when running ones have ended. */
  readonly stop = async (): Promise<void> => {
    this.#stopping.abort()
    this.#wake()
    await this.#looping
    await Promise.all([...this.#running.values()].map(({ done }) => done))
    this.#over.abort()
    await this.#living
  }

  async #run(taken: ClaimedJob): Promise<void> {
    let failure: { readonly error: unknown } | undefined
    try {
      await this.#options.handler(taken.job)
    } catch (error) {
      failure = { error }
      this.#options.problem(error, taken.job)
    }
    try {
      await (failure ? this.#options.jobs.fail(taken, failure.error) : this.#options.jobs.complete(taken))
    } catch (error) {
      // The job stays active without heartbeats, and is taken over like a dead process's.
      this.#options.problem(error, taken.job)
    }
    this.#running.delete(taken.id)
    // Otherwise no other job can start because of its end.
    if (this.#awaited.delete(taken.key) || this.#isFull || failure) this.#wake()
  }

  #countFreeSlots(): number {
    const soon = this.#options.clock.now() - jobSlotReleaseDelayMs
    const jobsInSlots = [...this.#running.values()].filter(
      ({ taken, since }) => taken.job.kind !== 'pull' || since > soon,
    ).length
    const { waiting, yielding } = this.#options.idle ?? { waiting: 0, yielding: 0 }
    const atWork = this.#running.size - waiting - yielding
    return Math.min(
      this.#options.concurrency - jobsInSlots + yielding,
      this.#options.concurrency * concurrentJobsMultiplier - atWork,
      maxConcurrentJobs - this.#running.size,
    )
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const seen = this.#calls
      try {
        const freeSlots = this.#countFreeSlots()
        this.#isFull = freeSlots <= 0
        this.#isTaking = true
        const taken = freeSlots > 0 ? await this.#options.jobs.take(freeSlots) : []
        for (const one of taken)
          this.#running.set(one.id, { taken: one, since: this.#options.clock.now(), done: this.#run(one) })
        // The batch was full: more jobs may wait, and others may have ended since.
        if (taken.length > 0 && taken.length === freeSlots) continue
      } catch (error) {
        this.#options.problem(error)
      } finally {
        this.#isTaking = false
        // The others were not taken, or were taken by another instance.
        for (const key of this.#awaited) if (!this.#isRunning(key)) this.#awaited.delete(key)
      }
      if (seen !== this.#calls || this.#stopping.signal.aborted) continue
      const called = new Promise<void>((resolve) => (this.#answer = resolve))
      const pause = new AbortController()
      // Without room, checks again when running jobs free their slots.
      await Promise.race([
        called,
        this.#options.clock.sleep(
          this.#countFreeSlots() > 0 ? jobPollIntervalMs : jobSlotReleaseDelayMs,
          pause.signal,
        ),
      ])
      pause.abort()
      this.#answer = undefined
    }
  }

  async #sendHeartbeats(): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(
        (this.#options.silence / heartbeatsPerTakeoverPeriod) * 1000,
        this.#over.signal,
      )
      if (this.#over.signal.aborted) return
      try {
        await this.#options.jobs.touch([...this.#running.values()].map(({ taken }) => taken))
        // Jobs of dead instances, and jobs of this instance whose result was lost.
        if ((await this.#options.jobs.recover(this.#options.silence)) > 0) this.#wake()
      } catch (error) {
        this.#options.problem(error)
      }
    }
  }
}
