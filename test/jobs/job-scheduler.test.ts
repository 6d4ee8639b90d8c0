// The order of jobs for pull requests: a light job does not wait for a heavy one.
import { expect, test } from '@jest/globals'
import { JobScheduler, type JobSlot } from '../../src/jobs/job-scheduler.ts'
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
      await flushEventLoop()
    },
  }
}

const flushEventLoop = () => new Promise((resolve) => setImmediate(resolve))

/** Whether the slot was allowed to continue. */
function trackJobSlotYield(slot: JobSlot): { is: boolean } {
  const state = { is: false }
  void slot.yieldToLightJobs().then(() => (state.is = true))
  return state
}

const setUpJobScheduler = (maxHeavyJobs = 2) => {
  const time = createManualClock()
  const turns = new JobScheduler(time.clock, { maxHeavyJobs, maxWaitMs: 1000, maxLightJobsPerAccount: 2 })
  const heavy = (author: string) => {
    const slot = turns.startJob()
    slot.setCost('heavy', author)
    return slot
  }
  return { ...time, turns, heavy }
}

test('a heavy job waits while a light job or a job of unknown cost is running', async () => {
  const { turns, heavy } = setUpJobScheduler()
  const [known, unknown] = [turns.startJob(), turns.startJob()]
  known.setCost('light', 'alice')
  const one = trackJobSlotYield(heavy('mallory'))
  await flushEventLoop()
  expect([one.is, turns.waiting]).toEqual([false, 1])
  known.end()
  await flushEventLoop()
  expect(one.is).toBe(false)
  unknown.setCost('heavy', 'mallory')
  await flushEventLoop()
  expect([one.is, turns.waiting]).toEqual([true, 0])
})

test('a light job does not wait for a heavy one', async () => {
  const { turns, heavy } = setUpJobScheduler(1)
  void heavy('mallory').yieldToLightJobs()
  const light = turns.startJob()
  light.setCost('light', 'alice')
  await light.yieldToLightJobs()
})

test('other jobs delay a heavy job up to a limit, summed over all its pauses', async () => {
  const { turns, heavy, pass } = setUpJobScheduler()
  turns.startJob()
  const slot = heavy('alice')
  const first = trackJobSlotYield(slot)
  await pass(999)
  expect(first.is).toBe(false)
  await pass(1)
  expect(first.is).toBe(true)
  const second = trackJobSlotYield(slot)
  await flushEventLoop()
  expect(second.is).toBe(true)
})

test('runs only the maximum number of heavy jobs, and reuses a slot that is freed', async () => {
  const { heavy, turns } = setUpJobScheduler(2)
  const [a, b, c] = [heavy('a'), heavy('b'), heavy('c')]
  const [atA, atB, atC] = [trackJobSlotYield(a), trackJobSlotYield(b), trackJobSlotYield(c)]
  await flushEventLoop()
  expect([atA.is, atB.is, atC.is]).toEqual([true, true, false])
  // A job that holds a slot keeps it.
  await a.yieldToLightJobs()
  expect(turns.waiting).toBe(1)
  b.end()
  await flushEventLoop()
  expect(atC.is).toBe(true)
})

test('an account with many heavy jobs waits behind an account with few', async () => {
  const { heavy } = setUpJobScheduler(2)
  const mallory = [1, 2, 3, 4].map(() => heavy('mallory'))
  const hers = mallory.map(trackJobSlotYield)
  const his = trackJobSlotYield(heavy('alice'))
  await flushEventLoop()
  expect(hers.map(({ is }) => is)).toEqual([true, true, false, false])
  mallory[0]?.end()
  await flushEventLoop()
  expect([his.is, hers[2]?.is]).toEqual([true, false])
})

test('a third light job of an account waits for other accounts, and up to a limit for its own', async () => {
  const { turns, pass } = setUpJobScheduler()
  const light = (whose: string) => {
    const slot = turns.startJob()
    slot.setCost('light', whose)
    return slot
  }
  const [first, second, third] = [light('mallory'), light('mallory'), light('mallory')]
  const alice = light('alice')
  const [atThird, atAlice] = [trackJobSlotYield(third), trackJobSlotYield(alice)]
  await flushEventLoop()
  expect([atThird.is, atAlice.is]).toEqual([false, true])
  first.end()
  second.end()
  await flushEventLoop()
  expect(atThird.is).toBe(false)
  alice.end()
  await flushEventLoop()
  expect(atThird.is).toBe(true)
  const [, , late] = [light('mallory'), light('mallory'), light('mallory')]
  const atLate = trackJobSlotYield(late)
  await pass(1000)
  expect(atLate.is).toBe(true)
})

test('a job that turns out to be heavy no longer delays heavy jobs', async () => {
  const { turns, heavy } = setUpJobScheduler()
  const slot = turns.startJob()
  slot.setCost('light', 'mallory')
  const one = trackJobSlotYield(heavy('alice'))
  slot.setCost('heavy', 'mallory')
  await flushEventLoop()
  expect(one.is).toBe(true)
})

test('closing the scheduler lets all waiting jobs continue', async () => {
  const { turns, heavy } = setUpJobScheduler(1)
  turns.startJob()
  const [one, other] = [trackJobSlotYield(heavy('a')), trackJobSlotYield(heavy('b'))]
  turns.close()
  await flushEventLoop()
  expect([one.is, other.is]).toEqual([true, true])
})

test('background work waits for evaluations and merge batches, but not forever', async () => {
  const { turns, heavy, pass } = setUpJobScheduler()
  const startBackgroundWork = () => {
    const work = { isDone: false }
    void turns.yieldToPulls().then(() => (work.isDone = true))
    return work
  }
  const idle = startBackgroundWork()
  await flushEventLoop()
  expect([idle.isDone, turns.yielding]).toEqual([true, 0])
  const slot = heavy('alice')
  const work = startBackgroundWork()
  await pass(250)
  const endBatch = turns.startBatch()
  slot.end()
  await pass(250)
  expect([work.isDone, turns.yielding]).toEqual([false, 1])
  endBatch()
  await pass(250)
  expect([work.isDone, turns.yielding]).toEqual([true, 0])
  turns.startJob()
  const patient = startBackgroundWork()
  for (let waitedMs = 0; waitedMs < 1000; waitedMs += 250) await pass(250)
  expect(patient.isDone).toBe(true)
  const last = startBackgroundWork()
  turns.close()
  await flushEventLoop()
  expect(last.isDone).toBe(true)
})
