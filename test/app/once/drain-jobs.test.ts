// The queue of a process that ends: what runs, in which order, and what is left to the next run. The clock is the test's.
import { describe, expect, test } from '@jest/globals'
import { openOnceQueue } from '../../../src/app/once/drain-jobs.ts'
import { pullNumber } from '../../../src/change/ids.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { Job } from '../../../src/ports/jobs.ts'

const repository = { owner: 'coast', name: 'operators' }
const pull = (number: number): Job => ({
  kind: 'pull',
  installation: 0,
  repository,
  pull: pullNumber(number),
})

/** Time passes only while somebody sleeps. */
function steppedClock(): Clock {
  let now = 1_000_000
  return {
    now: () => now,
    sleep: (milliseconds) => {
      now += milliseconds
      return Promise.resolve()
    },
  }
}

function scene() {
  const clock = steppedClock()
  const queue = openOnceQueue(clock)
  const ran: number[] = []
  const drain = (react: (number: number) => unknown = () => undefined, concurrency = 2) =>
    queue.drain({
      clock,
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
  test('works off what is due, and what that brings; equal jobs are one', async () => {
    const { queue, ran, drain } = scene()
    for (const number of [1, 2, 1]) await queue.enqueue(pull(number))
    const { left, failed } = await drain((number) => number === 1 && queue.enqueue(pull(3), 2))
    expect({ ran, left, failed }).toEqual({ ran: [1, 2, 3], left: [], failed: [] })
  })

  test('leaves what is due later, and a job that never has enough, to the next run', async () => {
    const { queue, ran, drain } = scene()
    await queue.enqueue(pull(1))
    await queue.enqueue(pull(2), 60)
    const { left } = await drain((number) => queue.enqueue(pull(number)))
    expect(ran).toEqual(Array(10).fill(1))
    expect(left).toEqual(expect.arrayContaining([pull(1), pull(2)]))
  })

  test('goes on after a failure, tells it, and does not try it again', async () => {
    const { queue, ran, drain } = scene()
    for (const number of [1, 2]) await queue.enqueue(pull(number))
    const { failed } = await drain(async (number) => {
      if (number === 2) return
      await queue.enqueue(pull(1))
      throw new Error('ours')
    })
    expect(ran).toEqual([1, 2])
    expect(failed).toEqual([{ job: pull(1), error: new Error('ours') }])
  })

  test('never runs one key twice at once', async () => {
    const { queue, drain } = scene()
    let open = 0
    let most = 0
    await queue.enqueue(pull(1))
    let again = true
    await drain(async () => {
      open += 1
      most = Math.max(most, open)
      if (again) await queue.enqueue(pull(1))
      again = false
      await new Promise((resolve) => setImmediate(resolve))
      open -= 1
    }, 4)
    expect(most).toBe(1)
  })
})
