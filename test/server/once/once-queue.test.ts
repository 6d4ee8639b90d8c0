// A queue that ends with its process: what runs, in which order, and what is left for the next run. Uses a test clock.
import { describe, expect, test } from '@jest/globals'
import { createSweepOnceJobQueue } from '../../../src/server/sweep-once/sweep-once.ts'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Job } from '../../../src/ports/jobs.ts'

const repository = { owner: 'coast', name: 'operators' }
const createPullJob = (number: number): Job => ({
  kind: 'pull',
  installation: 0,
  repository,
  pull: toPullNumber(number),
})

/** Time advances only through `sleep`. */
function createSleepDrivenClock(): Clock {
  let now = 1_000_000
  return {
    now: () => now,
    sleep: (milliseconds) => {
      now += milliseconds
      return Promise.resolve()
    },
  }
}

function createSweepOnceQueueFixture() {
  const clock = createSleepDrivenClock()
  const queue = createSweepOnceJobQueue(clock)
  const ran: number[] = []
  const drain = (react: (number: number) => unknown = () => undefined, concurrency = 2) =>
    queue.drain({
      concurrency,
      signal: new AbortController().signal,
      handler: async (job) => {
        const number = job.kind === 'pull' ? Number(job.pull) : 0
        ran.push(number)
        await react(number)
      },
    })
  return { queue, ran, drain, clock }
}

describe('a queue that ends', () => {
  test('runs due jobs and the jobs that they enqueue, and runs equal jobs once', async () => {
    const { queue, ran, drain } = createSweepOnceQueueFixture()
    for (const number of [1, 2, 1]) await queue.enqueue(createPullJob(number))
    const { left, failed } = await drain((number) => number === 1 && queue.enqueue(createPullJob(3), 2))
    expect({ ran, left, failed }).toEqual({ ran: [1, 2, 3], left: [], failed: [] })
  })

  test('leaves jobs that are due later, and a job that keeps requeuing itself, to the next run', async () => {
    const { queue, ran, drain } = createSweepOnceQueueFixture()
    await queue.enqueue(createPullJob(1))
    await queue.enqueue(createPullJob(2), 60)
    const { left } = await drain((number) => queue.enqueue(createPullJob(number)))
    expect(ran).toEqual(Array(10).fill(1))
    expect(left).toEqual(expect.arrayContaining([createPullJob(1), createPullJob(2)]))
  })

  test('continues after a failure, reports it, and does not retry it', async () => {
    const { queue, ran, drain } = createSweepOnceQueueFixture()
    for (const number of [1, 2]) await queue.enqueue(createPullJob(number))
    const { failed } = await drain(async (number) => {
      if (number === 2) return
      await queue.enqueue(createPullJob(1))
      throw new Error('ours')
    })
    expect(ran).toEqual([1, 2])
    expect(failed).toEqual([{ job: createPullJob(1), error: new Error('ours') }])
  })

  test('never runs the same job twice at the same time', async () => {
    const { queue, drain } = createSweepOnceQueueFixture()
    let open = 0
    let maxConcurrent = 0
    await queue.enqueue(createPullJob(1))
    let again = true
    await drain(async () => {
      open += 1
      maxConcurrent = Math.max(maxConcurrent, open)
      if (again) await queue.enqueue(createPullJob(1))
      again = false
      await new Promise((resolve) => setImmediate(resolve))
      open -= 1
    }, 4)
    expect(maxConcurrent).toBe(1)
  })
})
