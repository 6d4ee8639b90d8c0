// Who may ask GitHub, and when: on a clock that stands still, without a request.
import { describe, expect, test } from '@jest/globals'
import { openBudget, type Pass } from '../../../src/github/budget/budget.ts'
import type { Held, Wish } from '../../../src/github/budget/patience.ts'
import { documentedLimits, noLimits, type GitHubLimits } from '../../../src/github/budget/github-limits.ts'
import { usualReserves, type WorkClass } from '../../../src/github/budget/work-class.ts'
import { settled, stillClock } from './still-clock.ts'

const read = {
  resource: 'core',
  isWrite: false,
  createsContent: false,
  points: 1,
  isForToken: false,
} as const
const write = { ...read, isWrite: true, points: 5 } as const
const comment = { ...write, createsContent: true } as const

function open(limits: GitHubLimits = documentedLimits) {
  const time = stillClock()
  const budget = openBudget({ limits, reserves: usualReserves, clock: time.clock })
  const enter = (work: WorkClass, wish: Partial<Wish> = {}) =>
    budget.enter({ ...read, hasBegun: false, work, ...wish })
  /** Asks, is answered at once, and says when it was let in; what is held says why. */
  const order: string[] = []
  const ask = (name: string, work: WorkClass, wish: Partial<Wish> = {}) =>
    void enter(work, wish).then((answer) => {
      order.push(answer.kind === 'pass' ? name : `${name} held: ${answer.why}`)
      if (answer.kind === 'pass') answer.end()
    })
  /** Whether it is let in now. */
  const now = async (work: WorkClass, wish: Partial<Wish> = {}): Promise<'pass' | Held['why'] | 'waits'> => {
    let said: 'pass' | Held['why'] | 'waits' = 'waits'
    void enter(work, wish).then((answer) => {
      said = answer.kind === 'pass' ? 'pass' : answer.why
      if (answer.kind === 'pass') answer.end()
    })
    await settled()
    return said
  }
  /** GitHub says that so much is left. */
  const left = async (remaining: number, resetsIn = 3600_000, resource: Wish['resource'] = 'core') => {
    const pass = (await enter('landing', { resource })) as Pass
    const reset = Math.round((time.clock.now() + resetsIn) / 1000)
    pass.heard({ quota: { resource, limit: 1000, remaining, reset, resetsIn }, isFailure: false })
    pass.end()
  }
  return { time, budget, enter, ask, order, now, left }
}

const passes = async (entered: Promise<Pass | Held>): Promise<Pass> => {
  const pass = await entered
  if (pass.kind !== 'pass') throw new Error(`held: ${pass.why}`)
  return pass
}

describe('the hour', () => {
  test.each([
    [1000, ['pass', 'pass', 'pass', 'pass']],
    [500, ['pass', 'pass', 'pass', 'quota']],
    [300, ['pass', 'pass', 'quota', 'quota']],
    [100, ['pass', 'quota', 'quota', 'quota']],
    [1, ['pass', 'quota', 'quota', 'quota']],
    [0, ['quota', 'quota', 'quota', 'quota']],
  ] as const)('with %i of 1000 left at its beginning lets in by importance', async (remaining, said) => {
    const { now, left } = open()
    await left(remaining)
    const works = ['landing', 'look', 'sweep', 'scan'] as const
    for (const [index, work] of works.entries()) expect([work, await now(work)]).toEqual([work, said[index]])
  })

  test('keeps back only what others may need until it is over', async () => {
    const { now, left, enter, time } = open()
    await left(251)
    const held = (await enter('scan')) as Held
    // Half of the limit for a whole hour is a quarter for half an hour.
    expect(held).toMatchObject({ kind: 'held', why: 'quota', milliseconds: 1800_000 })
    await time.pass(held.milliseconds - 1000)
    expect(await now('scan')).toBe('waits')
    await time.pass(1000)
    expect(await now('scan')).toBe('pass')
  })

  test('lets what has begun come to its end, half as far again', async () => {
    const { now, left } = open()
    await left(400)
    expect(await now('scan')).toBe('quota')
    expect(await now('scan', { hasBegun: true })).toBe('pass')
    await left(240)
    expect(await now('scan', { hasBegun: true })).toBe('quota')
  })

  test('that is used up holds for its resource alone, until it begins anew', async () => {
    const { now, left, enter, time } = open()
    await left(0, 600_000)
    expect(await enter('landing')).toMatchObject({ why: 'quota', milliseconds: 600_000 })
    expect(await now('landing', { resource: 'graphql' })).toBe('pass')
    await time.pass(600_000)
    expect(await now('scan')).toBe('pass')
  })

  test('is counted by the least that was said of it, whichever answer comes last', async () => {
    const { now, enter, time } = open()
    const [first, second, third] = [await passes(enter('landing')), await passes(enter('landing')), await passes(enter('landing'))] // prettier-ignore
    const quota = { resource: 'core', limit: 1000, reset: 10_000, resetsIn: 3600_000 } as const
    first.heard({ quota: { ...quota, remaining: 0 }, isFailure: false })
    second.heard({ quota: { ...quota, remaining: 900 }, isFailure: false })
    // One of the hour before comes late.
    third.heard({ quota: { ...quota, remaining: 900, reset: 6400, resetsIn: 1000 }, isFailure: false })
    for (const pass of [first, second, third]) pass.end()
    expect(await now('landing')).toBe('quota')
    await time.pass(3600_000)
    expect(await now('landing')).toBe('pass')
  })

  test('counts what is under way as spent', async () => {
    const { enter, left, now } = open()
    await left(2)
    const under = [await passes(enter('landing')), await passes(enter('landing'))]
    expect(await now('landing')).toBe('quota')
    for (const pass of under) pass.end()
    expect(await now('landing')).toBe('pass')
  })

  test('ends when GitHub says, though somebody sets our clock', async () => {
    const { enter, left, now, time } = open()
    await left(0, 600_000)
    time.set(Date.UTC(2031, 0, 1))
    expect(await enter('landing')).toMatchObject({ why: 'quota', milliseconds: 600_000 })
    time.set(Date.UTC(2001, 0, 1))
    await time.pass(600_000)
    expect(await now('landing')).toBe('pass')
  })
})

describe('writes', () => {
  test('are a second apart, the most important first, then in the order in which they came', async () => {
    const { ask, order, time } = open()
    ask('first', 'scan', write)
    ask('scan', 'scan', write)
    ask('sweep', 'sweep', write)
    ask('look 1', 'look', write)
    ask('look 2', 'look', write)
    ask('landing', 'landing', write)
    await settled()
    expect(order).toEqual(['first'])
    await time.pass(999)
    expect(order).toEqual(['first'])
    for (const [index, next] of ['landing', 'look 1', 'look 2', 'sweep', 'scan'].entries()) {
      await time.pass(index === 0 ? 1 : 1000)
      expect(order.at(-1)).toBe(next)
      expect(order).toHaveLength(index + 2)
    }
  })

  test('do not hold up reads, nor does setting the clock hold up writes', async () => {
    const { ask, order, time } = open()
    ask('one', 'look', write)
    ask('two', 'look', write)
    ask('read', 'scan')
    await settled()
    expect(order).toEqual(['one', 'read'])
    time.set(Date.UTC(2001, 0, 1))
    await time.pass(1000)
    expect(order).toEqual(['one', 'read', 'two'])
  })

  test('follow each other at once where the server has no such limit', async () => {
    const { ask, order } = open(noLimits)
    for (let count = 0; count < 200; count += 1) ask(String(count), 'scan', comment)
    await settled()
    expect(order).toHaveLength(200)
  })
})

describe('a minute', () => {
  test('has so many points, of which the less important leave some', async () => {
    const { now } = open({ ...documentedLimits, writePause: 0 })
    for (let count = 0; count < 450; count += 1) expect(await now('scan')).toBe('pass')
    // Its end is a minute away: that is too long for a scan to hold a place.
    expect(await now('scan')).toBe('points')
    for (let count = 0; count < 90; count += 1) expect(await now('landing', write)).toBe('pass')
    expect(await now('landing')).toBe('points')
    expect(await now('landing', { resource: 'graphql' })).toBe('pass')
  })

  test('is not used up by reads before a write that came first', async () => {
    const { now, enter, ask, order, time } = open({ ...documentedLimits, restPoints: 10, writePause: 0 })
    for (let count = 0; count < 6; count += 1) {
      expect(await now('landing')).toBe('pass')
      await time.pass(8000)
    }
    ask('write', 'landing', write)
    ask('read', 'landing')
    await settled()
    expect(order).toEqual([])
    await time.pass(12_000)
    expect(order).toEqual(['write'])
    await time.pass(8_000)
    expect(order).toEqual(['write', 'read'])
    expect(await enter('scan')).toMatchObject({ kind: 'held', why: 'points' })
  })

  test('and an hour take so much content', async () => {
    const { now, time } = open({ ...documentedLimits, writePause: 0, restPoints: Infinity })
    for (let count = 0; count < 80; count += 1) expect(await now('landing', comment)).toBe('pass')
    expect(await now('landing', comment)).toBe('content')
    expect(await now('landing', write)).toBe('pass')
    for (let minutes = 0; minutes < 6; minutes += 1) {
      await time.pass(60_000)
      for (let count = 0; count < 70; count += 1) expect(await now('landing', comment)).toBe('pass')
    }
    await time.pass(60_000)
    expect(await now('landing', comment)).toBe('content')
  })
})

describe('requests at once', () => {
  test('are ten at most, and the last places are for what is important', async () => {
    const { enter, now } = open()
    const under = await Promise.all(Array.from({ length: 5 }, () => passes(enter('scan'))))
    expect(await now('scan')).toBe('waits')
    for (let more = 0; more < 2; more += 1) under.push(await passes(enter('sweep')))
    expect(await now('sweep')).toBe('waits')
    for (let more = 0; more < 3; more += 1) under.push(await passes(enter('landing')))
    expect(await now('landing')).toBe('waits')
    const waiting = enter('landing')
    under[0]?.end()
    expect((await waiting).kind).toBe('pass')
  })

  test('that wait too long for their turn give up their place', async () => {
    const { enter, time } = open()
    for (let count = 0; count < 10; count += 1) await passes(enter('landing'))
    const waiting = enter('landing')
    await time.pass(60_000)
    expect(await waiting).toMatchObject({ kind: 'held', why: 'slots' })
  })
})

describe('a secondary limit', () => {
  const refused = { refusal: { kind: 'secondary', seconds: 600 }, isFailure: false } as const

  test('holds for everything, as long as GitHub said; then one asks alone', async () => {
    const { enter, now, budget, time } = open(noLimits)
    const both = [await passes(enter('look')), await passes(enter('look'))]
    for (const pass of both) pass.heard(refused)
    for (const pass of both) pass.end()
    expect(await enter('landing', { resource: 'graphql' })).toMatchObject({
      why: 'pause',
      milliseconds: 600_000,
    })
    expect(budget.heldFor('landing')).toBe(600_000)
    await time.pass(600_000)
    const probe = await passes(enter('landing'))
    expect(await now('landing')).toBe('waits')
    probe.heard({ isFailure: false })
    probe.end()
    await settled()
    expect([await now('landing'), await now('landing')]).toEqual(['pass', 'pass'])
  })

  test('that does not say how long is waited for a minute, then twice as long each time', async () => {
    const { enter, time } = open(noLimits)
    for (const minutes of [1, 2, 4]) {
      const pass = await passes(enter('landing'))
      pass.heard({ refusal: { kind: 'secondary' }, isFailure: false })
      pass.end()
      expect(await enter('landing')).toMatchObject({ milliseconds: minutes * 60_000 })
      await time.pass(minutes * 60_000)
    }
    const well = await passes(enter('landing'))
    well.heard({ isFailure: false })
    well.end()
    const again = await passes(enter('landing'))
    again.heard({ refusal: { kind: 'secondary' }, isFailure: false })
    again.end()
    expect(await enter('landing')).toMatchObject({ milliseconds: 60_000 })
  })

  test('that is over soon is waited for in place', async () => {
    const { enter, ask, order, time } = open(noLimits)
    const pass = await passes(enter('look'))
    pass.heard({ refusal: { kind: 'secondary', seconds: 8 }, isFailure: false })
    pass.end()
    ask('look', 'look')
    ask('scan', 'scan')
    await settled()
    expect(order).toEqual(['scan held: pause'])
    await time.pass(8000)
    expect(order).toEqual(['scan held: pause', 'look'])
  })
})
