import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { toJobKey, type ClaimedJob, type PersistentJobQueue } from '../../../src/adapters/store/jobs.ts'
import { JobWorker } from '../../../src/adapters/store/worker.ts'
import type { Job } from '../../../src/ports/jobs.ts'
import { createPullJob } from './sample-records.ts'

const waiting: Job[] = []
const running = new Map<string, () => void>()
let takes = 0
let runs = 0
let beforeTake: (() => void) | undefined
let worker: JobWorker

const takeJob = (job: Job): readonly ClaimedJob[] => {
  waiting.splice(waiting.indexOf(job), 1)
  return [{ id: `${(runs += 1)}`, key: toJobKey(job), run: 0, job }]
}
/** Like pg-boss, gives only jobs of keys that do not run. */
const jobs: Pick<PersistentJobQueue, 'take' | 'complete' | 'fail' | 'touch' | 'recover'> = {
  take: (limit) => {
    takes += 1
    beforeTake?.()
    beforeTake = undefined
    const free = waiting.filter((job) => !running.has(toJobKey(job)))
    return Promise.resolve(free.slice(0, limit).flatMap(takeJob))
  },
  complete: () => Promise.resolve(),
  fail: () => Promise.resolve(),
  touch: () => Promise.resolve(),
  recover: () => Promise.resolve(0),
}

beforeEach(() => {
  takes = runs = 0
  waiting.length = 0
  worker = new JobWorker({
    jobs: jobs as PersistentJobQueue,
    // Time stands still, so that the worker never polls.
    clock: {
      now: () => 0,
      sleep: (_milliseconds, signal) =>
        new Promise((resolve) => signal?.addEventListener('abort', () => resolve())),
    },
    handler: async (job) => {
      await new Promise<void>((resolve) => running.set(toJobKey(job), resolve))
      running.delete(toJobKey(job))
    },
    concurrency: 2,
    problem: (error) => {
      throw error
    },
    silence: 15,
  })
})
afterEach(async () => {
  const stopped = worker.stop()
  for (const end of running.values()) end()
  await stopped
})

/** Lets everything happen that does not wait for a handler. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
const enqueue = async (job: Job) => {
  waiting.push(job)
  worker.expect(job)
  await settle()
}
const end = async (job: Job) => {
  running.get(toJobKey(job))?.()
  await settle()
}
const [one, two, three] = [createPullJob(1), createPullJob(2), createPullJob(3)] as const

test('the end of a job reads the queue only if another job can start because of it', async () => {
  await enqueue(one)
  const before = takes
  await end(one)
  expect({ runs, reads: takes - before }).toEqual({ runs: 1, reads: 0 })
})

test('a job that was enqueued during a run with the same key starts when that run ends', async () => {
  await enqueue(one)
  await enqueue(one)
  expect(runs).toBe(1)
  await end(one)
  expect(runs).toBe(2)
})

test('a job that was enqueued while all slots were taken starts when a slot is free', async () => {
  for (const job of [one, two, three]) await enqueue(job)
  expect(runs).toBe(2)
  await end(one)
  expect(runs).toBe(3)
})

test('a job that another instance took is not awaited by a later run with the same key', async () => {
  beforeTake = () => worker.expect(two)
  await enqueue(one)
  await end(one)
  await enqueue(two)
  const before = takes
  await end(two)
  expect({ runs, reads: takes - before }).toEqual({ runs: 2, reads: 0 })
})
