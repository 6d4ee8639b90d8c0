// An in-memory queue for a single sweep. It skips jobs due later, coalesces like the store, and never runs two jobs
// with one key at once.
import type { Clock } from '../../ports/clock.ts'
import type { Job, JobQueue } from '../../ports/jobs.ts'
import { toJobKey } from '../../adapters/store/jobs.ts'

export interface DrainOptions {
  readonly clock: Clock
  readonly concurrency: number
  /** Rejects with our own failures; the job is not retried in this run. */
  readonly handler: (job: Job) => Promise<void>
  readonly signal: AbortSignal
}

export interface DrainResult {
  /** Jobs due too late or repeated too often. */
  readonly left: readonly Job[]
  readonly failed: readonly { readonly job: Job; readonly error: unknown }[]
}

export interface OnceQueue extends JobQueue {
  /** Resolves when no job is due soon. */
  drain(options: DrainOptions): Promise<DrainResult>
}

/** Milliseconds; enough for another merge or GitHub's mergeability to finish. */
const maxJobDelayMs = 10_000
/** A job that requeues itself more often is left to the next run. */
const maxRunsPerJob = 10

interface QueuedJob {
  readonly job: Job
  readonly due: number
}

export function createOnceQueue(clock: Clock): OnceQueue {
  const waiting = new Map<string, QueuedJob>()
  let wake = (): void => undefined
  return {
    enqueue(job, afterSeconds = 0) {
      const key = toJobKey(job)
      const due = Math.min(clock.now() + afterSeconds * 1000, waiting.get(key)?.due ?? Infinity)
      waiting.set(key, { job, due })
      wake()
      return Promise.resolve()
    },
    async drain({ concurrency, handler, signal }) {
      const running = new Map<string, Promise<void>>()
      const runs = new Map<string, number>()
      const failed: { job: Job; error: unknown }[] = []
      const failedKeys = new Set<string>()
      const isDueSoon = ([key, { due }]: [string, QueuedJob]) =>
        (runs.get(key) ?? 0) < maxRunsPerJob && !failedKeys.has(key) && due <= clock.now() + maxJobDelayMs
      const start = (key: string, job: Job) => {
        waiting.delete(key)
        runs.set(key, (runs.get(key) ?? 0) + 1)
        const run = handler(job).catch((error: unknown) => {
          failed.push({ job, error })
          failedKeys.add(key)
        })
        running.set(
          key,
          run.finally(() => {
            running.delete(key)
            wake()
          }),
        )
      }
      for (;;) {
        const due = signal.aborted ? [] : [...waiting].filter(isDueSoon).sort(([, a], [, b]) => a.due - b.due)
        const next = due.find(([key, one]) => one.due <= clock.now() && !running.has(key))
        if (next !== undefined && running.size < concurrency) {
          start(next[0], next[1].job)
          continue
        }
        if (due.length === 0 && running.size === 0) break
        const called = new Promise<void>((resolve) => (wake = resolve))
        const pause = new AbortController()
        const soonest = due.find(([key]) => !running.has(key))?.[1].due ?? Infinity
        const hasCapacity = soonest < Infinity && running.size < concurrency
        await (hasCapacity
          ? Promise.race([called, clock.sleep(Math.max(0, soonest - clock.now()), pause.signal)])
          : called)
        pause.abort()
      }
      return { left: [...waiting.values()].map(({ job }) => job), failed }
    },
  }
}
