// The order of jobs for pull requests: a light job does not wait for a heavy one.
import { expect, test } from '@jest/globals'
import { createJobScheduler, type JobSlot } from '../../src/jobs/job-scheduler.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** Time advances only through `pass`. */
function createManualClock() {
  let now = 0
  const sleepers = new Set<{ until: number; wake: () => void }>()
  const clock: Clock = {
    now: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        const sleeper = { until: now + milliseconds, wake: resolve }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', resolve)
      }),
  }
  return {
    clock,
    pass: async (milliseconds: number) => {
      now += milliseconds
      for (const sleeper of sleepers) if (sleeper.until <= now) sleeper.wake()
      await flushEvents()
    },
  }
}

const flushEvents = () => new Promise((resolve) => setImmediate(resolve))

/** Whether the slot was allowed to continue. */
function trackSlotYield(slot: JobSlot): { is: boolean } {
  const state = { is: false }
  void slot.yieldToLightJobs().then(() => (state.is = true))
  return state
}

const createSchedulerSetup = (maxHeavyJobs = 2) => {
  const time = createManualClock()
  const turns = createJobScheduler(time.clock, { maxHeavyJobs, maxWaitMs: 1000, maxLightJobsPerAccount: 2 })
  const heavy = (author: string) => {
    const slot = turns.startJob()
    slot.setCost('heavy', author)
    return slot
  }
  return { ...time, turns, heavy }
}

test('a heavy job waits while a light job or a job of unknown cost is running', async () => {
  const { turns, heavy } = createSchedulerSetup()
  const [known, unknown] = [turns.startJob(), turns.startJob()]
  known.setCost('light', 'alice')
  const one = trackSlotYield(heavy('mallory'))
  await flushEvents()
  expect([one.is, turns.waiting]).toEqual([false, 1])
  known.end()
  await flushEvents()
  expect(one.is).toBe(false)
  unknown.setCost('heavy', 'mallory')
  await flushEvents()
  expect([one.is, turns.waiting]).toEqual([true, 0])
})

test('a light job does not wait for a heavy one', async () => {
  const { turns, heavy } = createSchedulerSetup(1)
  void heavy('mallory').yieldToLightJobs()
  const light = turns.startJob()
  light.setCost('light', 'alice')
  await light.yieldToLightJobs()
})

test('other jobs delay a heavy job up to a limit, summed over all its pauses', async () => {
  const { turns, heavy, pass } = createSchedulerSetup()
  turns.startJob()
  const slot = heavy('alice')
  const first = trackSlotYield(slot)
  await pass(999)
  expect(first.is).toBe(false)
  await pass(1)
  expect(first.is).toBe(true)
  const second = trackSlotYield(slot)
  await flushEvents()
  expect(second.is).toBe(true)
})

test('runs only the maximum number of heavy jobs, and reuses a slot that is freed', async () => {
  const { heavy, turns } = createSchedulerSetup(2)
  const [a, b, c] = [heavy('a'), heavy('b'), heavy('c')]
  const [atA, atB, atC] = [trackSlotYield(a), trackSlotYield(b), trackSlotYield(c)]
  await flushEvents()
  expect([atA.is, atB.is, atC.is]).toEqual([true, true, false])
  // A job that holds a slot keeps it.
  await a.yieldToLightJobs()
  expect(turns.waiting).toBe(1)
  b.end()
  await flushEvents()
  expect(atC.is).toBe(true)
})

test('an account with many heavy jobs waits behind an account with few', async () => {
  const { heavy } = createSchedulerSetup(2)
  const mallory = [1, 2, 3, 4].map(() => heavy('mallory'))
  const hers = mallory.map(trackSlotYield)
  const his = trackSlotYield(heavy('alice'))
  await flushEvents()
  expect(hers.map(({ is }) => is)).toEqual([true, true, false, false])
  mallory[0]?.end()
  await flushEvents()
  expect([his.is, hers[2]?.is]).toEqual([true, false])
})

test('a third light job of an account waits for other accounts, and up to a limit for its own', async () => {
  const { turns, pass } = createSchedulerSetup()
  const light = (whose: string) => {
    const slot = turns.startJob()
    slot.setCost('light', whose)
    return slot
  }
  const [first, second, third] = [light('mallory'), light('mallory'), light('mallory')]
  const alice = light('alice')
  const [atThird, atAlice] = [trackSlotYield(third), trackSlotYield(alice)]
  await flushEvents()
  expect([atThird.is, atAlice.is]).toEqual([false, true])
  first.end()
  second.end()
  await flushEvents()
  expect(atThird.is).toBe(false)
  alice.end()
  await flushEvents()
  expect(atThird.is).toBe(true)
  const [, , late] = [light('mallory'), light('mallory'), light('mallory')]
  const atLate = trackSlotYield(late)
  await pass(1000)
  expect(atLate.is).toBe(true)
})

test('a job that turns out to be heavy no longer delays heavy jobs', async () => {
  const { turns, heavy } = createSchedulerSetup()
  const slot = turns.startJob()
  slot.setCost('light', 'mallory')
  const one = trackSlotYield(heavy('alice'))
  slot.setCost('heavy', 'mallory')
  await flushEvents()
  expect(one.is).toBe(true)
})

test('closing the scheduler lets all waiting jobs continue', async () => {
  const { turns, heavy } = createSchedulerSetup(1)
  turns.startJob()
  const [one, other] = [trackSlotYield(heavy('a')), trackSlotYield(heavy('b'))]
  turns.close()
  await flushEvents()
  expect([one.is, other.is]).toEqual([true, true])
})
