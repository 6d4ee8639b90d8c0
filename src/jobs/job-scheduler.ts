// Orders the jobs of pull requests. A large job (by GitHub's numbers) pauses at some points until no small or unknown
// job is running, so that expensive pull requests do not slow down small ones. Background work pauses while any
// evaluation or merge batch is running. Affects only the order.
import type { Clock } from '../ports/clock.ts'

export type JobCost = 'light' | 'heavy'

/** A job counts as light until its weight is known, which takes one request. */
export interface JobSlot {
  /** Accounts with many running jobs wait behind those with few. */
  setCost(weight: JobCost, account: string): void
  /** Resolves at once for a light job, and for a heavy one when it may continue. */
  yieldToLightJobs(): Promise<void>
  end(): void
}

export interface JobSchedulerLimits {
  /** Heavy jobs at once: one for each process. */
  readonly maxHeavyJobs: number
  /**
   * Maximum milliseconds that a heavy job waits in total, and that background work waits each time, so that endless
   * light jobs cannot block them.
   */
  readonly maxWaitMs: number
  /** Light jobs at once for one account. More of them wait like heavy ones, because a small diff can be expensive. */
  readonly maxLightJobsPerAccount: number
}

/** Enough time to evaluate and merge ten small pull requests. */
const defaultJobSchedulerLimits: JobSchedulerLimits = {
  maxHeavyJobs: 4,
  maxWaitMs: 10_000,
  maxLightJobsPerAccount: 2,
}

const backgroundPollIntervalMs = 250

interface ScheduledJob {
  account: string
  isAdmitted: boolean
  /** Remaining milliseconds to wait for light jobs. */
  remainingWaitMs: number
}

interface WaitingJob {
  readonly heavy: ScheduledJob
  waitsForLightJobs: boolean
  readonly resume: () => void
}

export class JobScheduler {
  readonly #clock: Clock
  readonly #limits: JobSchedulerLimits
  readonly #light = new Set<ScheduledJob>()
  readonly #heavy = new Set<ScheduledJob>()
  readonly #queue = new Set<WaitingJob>()
  readonly #closing = new AbortController()
  #batches = 0
  #yielding = 0

  constructor(clock: Clock, limits: JobSchedulerLimits = defaultJobSchedulerLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  startJob(): JobSlot {
    const self: ScheduledJob = { account: '', isAdmitted: false, remainingWaitMs: this.#limits.maxWaitMs }
    this.#light.add(self)
    return {
      setCost: (weight, account) => this.#setCost(self, weight, account),
      yieldToLightJobs: () =>
        this.#heavy.has(self) && !this.#closing.signal.aborted
          ? this.#waitForAdmission(self)
          : Promise.resolve(),
      end: () => {
        this.#light.delete(self)
        this.#heavy.delete(self)
        this.#admitJobs()
      },
    }
  }

  /** Registers a merge batch, to which background work yields. Call the result when it has ended. */
  startBatch(): () => void {
    this.#batches += 1
    return () => void (this.#batches -= 1)
  }

  /** For work that no one waits for: resolves when no evaluation or batch is running, or after the maximum wait. */
  async yieldToPulls(): Promise<void> {
    this.#yielding += 1
    // Polls, because a batch starts a moment after the evaluation that requested it has ended.
    for (let waitedMs = 0; waitedMs < this.#limits.maxWaitMs; waitedMs += backgroundPollIntervalMs) {
      if (this.#closing.signal.aborted || this.#light.size + this.#heavy.size + this.#batches === 0) break
      await this.#clock.sleep(backgroundPollIntervalMs, this.#closing.signal)
    }
    this.#yielding -= 1
  }

  get waiting(): number {
    return this.#queue.size
  }

  get yielding(): number {
    return this.#yielding
  }

  /** Releases all waiting jobs. */
  close(): void {
    this.#closing.abort()
    this.#admitJobs()
  }

  #setCost(self: ScheduledJob, weight: JobCost, account: string): void {
    const light = this.#light
    const { maxLightJobsPerAccount } = this.#limits
    self.account = account
    light.delete(self)
    const others = [...light].filter((one) => one.account === account).length
    const isLight = weight === 'light' && others < maxLightJobsPerAccount
    if (isLight) {
      this.#heavy.delete(self)
      self.isAdmitted = false
    }
    const into = isLight ? light : this.#heavy
    into.add(self)
    this.#admitJobs()
  }

  #countAdmitted(account?: string): number {
    return [...this.#heavy].filter(
      (one) => one.isAdmitted && (account === undefined || one.account === account),
    ).length
  }

  /** Orders by: already admitted, fewest jobs of the account, arrival. */
  #findNextJob(): WaitingJob | undefined {
    const hasCapacity = this.#countAdmitted() < this.#limits.maxHeavyJobs
    const ready = [...this.#queue].filter(
      ({ heavy, waitsForLightJobs }) =>
        (this.#light.size === 0 || !waitsForLightJobs) && (heavy.isAdmitted || hasCapacity),
    )
    const rank = ({ heavy }: WaitingJob) => (heavy.isAdmitted ? -1 : this.#countAdmitted(heavy.account))
    return ready.toSorted((a, b) => rank(a) - rank(b))[0]
  }

  #admitJobs(): void {
    for (
      let one = this.#closing.signal.aborted ? [...this.#queue][0] : this.#findNextJob();
      one;
      one = this.#closing.signal.aborted ? [...this.#queue][0] : this.#findNextJob()
    ) {
      this.#queue.delete(one)
      one.heavy.isAdmitted = true
      one.resume()
    }
  }

  async #waitForAdmission(heavy: ScheduledJob): Promise<void> {
    const admission = Promise.withResolvers<void>()
    const waiting: WaitingJob = {
      heavy,
      waitsForLightJobs: heavy.remainingWaitMs > 0,
      resume: admission.resolve,
    }
    this.#queue.add(waiting)
    this.#admitJobs()
    if (!this.#queue.has(waiting)) return
    const began = this.#clock.now()
    const stopping = new AbortController()
    const timeout = this.#clock.sleep(heavy.remainingWaitMs, stopping.signal).then(() => {
      waiting.waitsForLightJobs = false
      if (!stopping.signal.aborted) this.#admitJobs()
    })
    await admission.promise
    stopping.abort()
    await timeout
    heavy.remainingWaitMs = Math.max(0, heavy.remainingWaitMs - (this.#clock.now() - began))
  }
}
