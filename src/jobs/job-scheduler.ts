// Orders jobs of pull requests. Large ones (by GitHub's numbers) pause at some points until no small or unknown one is
// running, so that expensive pull requests do not slow down small ones. Decides nothing but the order.
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

export interface JobScheduler {
  startJob(): JobSlot
  readonly waiting: number
  /** Releases all waiting jobs. */
  close(): void
}

export interface JobSchedulerLimits {
  /** Heavy jobs at once: one for each process. */
  readonly maxHeavyJobs: number
  /** Maximum milliseconds that a heavy job waits in total, so that endless light ones cannot block it. */
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

export function createJobScheduler(
  clock: Clock,
  limits: JobSchedulerLimits = defaultJobSchedulerLimits,
): JobScheduler {
  const { maxHeavyJobs, maxWaitMs, maxLightJobsPerAccount } = limits
  const light = new Set<ScheduledJob>()
  const heavyOnes = new Set<ScheduledJob>()
  const queue = new Set<WaitingJob>()
  let closed = false

  const countAdmitted = (account?: string): number =>
    [...heavyOnes].filter((one) => one.isAdmitted && (account === undefined || one.account === account))
      .length

  /** Orders by: already admitted, fewest jobs of the account, arrival. */
  function findNextJob(): WaitingJob | undefined {
    const hasCapacity = countAdmitted() < maxHeavyJobs
    const ready = [...queue].filter(
      ({ heavy, waitsForLightJobs }) =>
        (light.size === 0 || !waitsForLightJobs) && (heavy.isAdmitted || hasCapacity),
    )
    const rank = ({ heavy }: WaitingJob) => (heavy.isAdmitted ? -1 : countAdmitted(heavy.account))
    return ready.toSorted((a, b) => rank(a) - rank(b))[0]
  }

  function admitJobs(): void {
    for (
      let one = closed ? [...queue][0] : findNextJob();
      one;
      one = closed ? [...queue][0] : findNextJob()
    ) {
      queue.delete(one)
      one.heavy.isAdmitted = true
      one.resume()
    }
  }

  async function waitForAdmission(heavy: ScheduledJob): Promise<void> {
    const admission = Promise.withResolvers<void>()
    const waiting: WaitingJob = {
      heavy,
      waitsForLightJobs: heavy.remainingWaitMs > 0,
      resume: admission.resolve,
    }
    queue.add(waiting)
    admitJobs()
    if (!queue.has(waiting)) return
    const began = clock.now()
    const stopping = new AbortController()
    const timeout = clock.sleep(heavy.remainingWaitMs, stopping.signal).then(() => {
      waiting.waitsForLightJobs = false
      if (!stopping.signal.aborted) admitJobs()
    })
    await admission.promise
    stopping.abort()
    await timeout
    heavy.remainingWaitMs = Math.max(0, heavy.remainingWaitMs - (clock.now() - began))
  }

  return {
    startJob() {
      const self: ScheduledJob = { account: '', isAdmitted: false, remainingWaitMs: maxWaitMs }
      light.add(self)
      return {
        setCost(weight, account) {
          self.account = account
          light.delete(self)
          const others = [...light].filter((one) => one.account === account).length
          const isLight = weight === 'light' && others < maxLightJobsPerAccount
          if (isLight) {
            heavyOnes.delete(self)
            self.isAdmitted = false
          }
          const into = isLight ? light : heavyOnes
          into.add(self)
          admitJobs()
        },
        yieldToLightJobs: () => (heavyOnes.has(self) && !closed ? waitForAdmission(self) : Promise.resolve()),
        end() {
          light.delete(self)
          heavyOnes.delete(self)
          admitJobs()
        },
      }
    },
    get waiting() {
      return queue.size
    },
    close() {
      closed = true
      admitJobs()
    },
  }
}
