// Who goes first among jobs at pull requests: nobody who is small waits for somebody who is large.
import { expect, test } from '@jest/globals'
import { createJobScheduler, type JobSlot } from '../../src/jobs/job-scheduler.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** Time passes by hand. */
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

/** Whether a turn was let go on. */
function trackProgress(slot: JobSlot): { is: boolean } {
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

test('a heavy one waits while a light one, or one of which nothing is known, is under way', async () => {
  const { turns, heavy } = createSchedulerSetup()
  const [known, unknown] = [turns.startJob(), turns.startJob()]
  known.setCost('light', 'alice')
  const one = trackProgress(heavy('mallory'))
  await flushEvents()
  expect([one.is, turns.waiting]).toEqual([false, 1])
  known.end()
  await flushEvents()
  expect(one.is).toBe(false)
  unknown.setCost('heavy', 'mallory')
  await flushEvents()
  expect([one.is, turns.waiting]).toEqual([true, 0])
})

test('a light one never waits', async () => {
  const { turns, heavy } = createSchedulerSetup(1)
  void heavy('mallory').yieldToLightJobs()
  const light = turns.startJob()
  light.setCost('light', 'alice')
  await light.yieldToLightJobs()
})

test('light ones without end delay a heavy one by so much, all its pauses together', async () => {
  const { turns, heavy, pass } = createSchedulerSetup()
  turns.startJob()
  const slot = heavy('alice')
  const first = trackProgress(slot)
  await pass(999)
  expect(first.is).toBe(false)
  await pass(1)
  expect(first.is).toBe(true)
  const second = trackProgress(slot)
  await flushEvents()
  expect(second.is).toBe(true)
})

test('no more heavy ones go on than there is room for, and a place is given back', async () => {
  const { heavy, turns } = createSchedulerSetup(2)
  const [a, b, c] = [heavy('a'), heavy('b'), heavy('c')]
  const [atA, atB, atC] = [trackProgress(a), trackProgress(b), trackProgress(c)]
  await flushEvents()
  expect([atA.is, atB.is, atC.is]).toEqual([true, true, false])
  // Who is in goes on being in.
  await a.yieldToLightJobs()
  expect(turns.waiting).toBe(1)
  b.end()
  await flushEvents()
  expect(atC.is).toBe(true)
})

test('whoever has many heavy ones waits behind whoever has few', async () => {
  const { heavy } = createSchedulerSetup(2)
  const mallory = [1, 2, 3, 4].map(() => heavy('mallory'))
  const hers = mallory.map(trackProgress)
  const his = trackProgress(heavy('alice'))
  await flushEvents()
  expect(hers.map(({ is }) => is)).toEqual([true, true, false, false])
  mallory[0]?.end()
  await flushEvents()
  expect([his.is, hers[2]?.is]).toEqual([true, false])
})

test('the third light one of an account waits for those of others, and for its own no longer than heavy ones do', async () => {
  const { turns, pass } = createSchedulerSetup()
  const light = (whose: string) => {
    const slot = turns.startJob()
    slot.setCost('light', whose)
    return slot
  }
  const [first, second, third] = [light('mallory'), light('mallory'), light('mallory')]
  const alice = light('alice')
  const [atThird, atAlice] = [trackProgress(third), trackProgress(alice)]
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
  const atLate = trackProgress(late)
  await pass(1000)
  expect(atLate.is).toBe(true)
})

test('one that turns out heavy while it works keeps no heavy one waiting any more', async () => {
  const { turns, heavy } = createSchedulerSetup()
  const slot = turns.startJob()
  slot.setCost('light', 'mallory')
  const one = trackProgress(heavy('alice'))
  slot.setCost('heavy', 'mallory')
  await flushEvents()
  expect(one.is).toBe(true)
})

test('at the end nobody waits', async () => {
  const { turns, heavy } = createSchedulerSetup(1)
  turns.startJob()
  const [one, other] = [trackProgress(heavy('a')), trackProgress(heavy('b'))]
  turns.close()
  await flushEvents()
  expect([one.is, other.is]).toEqual([true, true])
})
