// Who goes first among jobs at pull requests: nobody who is small waits for somebody who is large.
import { expect, test } from '@jest/globals'
import { openTurns, type Turn } from '../../../src/app/jobs/turns.ts'
import type { Clock } from '../../../src/ports/clock.ts'

/** Time passes by hand. */
function stillClock() {
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
      await settled()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Whether a turn was let go on. */
function going(turn: Turn): { is: boolean } {
  const state = { is: false }
  void turn.giveWay().then(() => (state.is = true))
  return state
}

const world = (heavyAtOnce = 2) => {
  const time = stillClock()
  const turns = openTurns(time.clock, { heavyAtOnce, longest: 1000, lightOfOne: 2 })
  const heavy = (whose: string) => {
    const turn = turns.begin()
    turn.weigh('heavy', whose)
    return turn
  }
  return { ...time, turns, heavy }
}

test('a heavy one waits while a light one, or one of which nothing is known, is under way', async () => {
  const { turns, heavy } = world()
  const [known, unknown] = [turns.begin(), turns.begin()]
  known.weigh('light', 'alice')
  const one = going(heavy('mallory'))
  await settled()
  expect([one.is, turns.waiting]).toEqual([false, 1])
  known.end()
  await settled()
  expect(one.is).toBe(false)
  unknown.weigh('heavy', 'mallory')
  await settled()
  expect([one.is, turns.waiting]).toEqual([true, 0])
})

test('a light one never waits', async () => {
  const { turns, heavy } = world(1)
  void heavy('mallory').giveWay()
  const light = turns.begin()
  light.weigh('light', 'alice')
  await light.giveWay()
})

test('light ones without end delay a heavy one by so much, all its pauses together', async () => {
  const { turns, heavy, pass } = world()
  turns.begin()
  const turn = heavy('alice')
  const first = going(turn)
  await pass(999)
  expect(first.is).toBe(false)
  await pass(1)
  expect(first.is).toBe(true)
  const second = going(turn)
  await settled()
  expect(second.is).toBe(true)
})

test('no more heavy ones go on than there is room for, and a place is given back', async () => {
  const { heavy, turns } = world(2)
  const [a, b, c] = [heavy('a'), heavy('b'), heavy('c')]
  const [atA, atB, atC] = [going(a), going(b), going(c)]
  await settled()
  expect([atA.is, atB.is, atC.is]).toEqual([true, true, false])
  // Who is in goes on being in.
  await a.giveWay()
  expect(turns.waiting).toBe(1)
  b.end()
  await settled()
  expect(atC.is).toBe(true)
})

test('whoever has many heavy ones waits behind whoever has few', async () => {
  const { heavy } = world(2)
  const mallory = [1, 2, 3, 4].map(() => heavy('mallory'))
  const hers = mallory.map(going)
  const his = going(heavy('alice'))
  await settled()
  expect(hers.map(({ is }) => is)).toEqual([true, true, false, false])
  mallory[0]?.end()
  await settled()
  expect([his.is, hers[2]?.is]).toEqual([true, false])
})

test('the third light one of an account waits for those of others, and for its own no longer than heavy ones do', async () => {
  const { turns, pass } = world()
  const light = (whose: string) => {
    const turn = turns.begin()
    turn.weigh('light', whose)
    return turn
  }
  const [first, second, third] = [light('mallory'), light('mallory'), light('mallory')]
  const alice = light('alice')
  const [atThird, atAlice] = [going(third), going(alice)]
  await settled()
  expect([atThird.is, atAlice.is]).toEqual([false, true])
  first.end()
  second.end()
  await settled()
  expect(atThird.is).toBe(false)
  alice.end()
  await settled()
  expect(atThird.is).toBe(true)
  const [, , late] = [light('mallory'), light('mallory'), light('mallory')]
  const atLate = going(late)
  await pass(1000)
  expect(atLate.is).toBe(true)
})

test('one that turns out heavy while it works keeps no heavy one waiting any more', async () => {
  const { turns, heavy } = world()
  const turn = turns.begin()
  turn.weigh('light', 'mallory')
  const one = going(heavy('alice'))
  turn.weigh('heavy', 'mallory')
  await settled()
  expect(one.is).toBe(true)
})

test('at the end nobody waits', async () => {
  const { turns, heavy } = world(1)
  turns.begin()
  const [one, other] = [going(heavy('a')), going(heavy('b'))]
  turns.close()
  await settled()
  expect([one.is, other.is]).toEqual([true, true])
})
