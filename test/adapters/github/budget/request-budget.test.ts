// Which requests to GitHub are allowed, and when: on a manual clock, without real requests.
import { describe, expect, test } from '@jest/globals'
import {
  RequestBudget,
  type RequestSendPermit,
} from '../../../../src/adapters/github/budget/request-budget.ts'
import {
  type ThrottledRequest,
  type BudgetedRequest,
  defaultQuotaReserves,
  type WorkPriorityClass,
  documentedGitHubRateLimits,
  noGitHubRateLimits,
  type GitHubRateLimits,
} from '../../../../src/adapters/github/budget/request-limits.ts'
import { flushEventLoop, createManualClock } from './manual-clock.ts'

const sampleReadRequest = {
  resource: 'core',
  isWrite: false,
  createsContent: false,
  points: 1,
  isForToken: false,
} as const
const sampleWriteRequest = { ...sampleReadRequest, isWrite: true, points: 5 } as const
const sampleCommentRequest = { ...sampleWriteRequest, createsContent: true } as const

function createTestRequestBudget(limits: GitHubRateLimits = documentedGitHubRateLimits) {
  const time = createManualClock()
  const budget = new RequestBudget({ limits, reserves: defaultQuotaReserves, clock: time.clock })
  const enter = (work: WorkPriorityClass, request: Partial<BudgetedRequest> = {}) =>
    budget.acquirePass({ ...sampleReadRequest, hasBegun: false, work, ...request })
  /** Records when a request gets its pass, which ends immediately, or why it is held. */
  const order: string[] = []
  const enterAs = (name: string, work: WorkPriorityClass, request: Partial<BudgetedRequest> = {}) =>
    void enter(work, request).then((answer) => {
      order.push(answer.kind === 'pass' ? name : `${name} held: ${answer.why}`)
      if (answer.kind === 'pass') answer.end()
    })
  /** Whether a request gets a pass now. */
  const now = async (
    work: WorkPriorityClass,
    request: Partial<BudgetedRequest> = {},
  ): Promise<'pass' | ThrottledRequest['why'] | 'waits'> => {
    let entryState: 'pass' | ThrottledRequest['why'] | 'waits' = 'waits'
    void enter(work, request).then((answer) => {
      entryState = answer.kind === 'pass' ? 'pass' : answer.why
      if (answer.kind === 'pass') answer.end()
    })
    await flushEventLoop()
    return entryState
  }
  /** GitHub reports the remaining quota. */
  const left = async (
    remaining: number,
    resetsIn = 3600_000,
    resource: BudgetedRequest['resource'] = 'core',
  ) => {
    const pass = (await enter('landing', { resource })) as RequestSendPermit
    const reset = Math.round((time.clock.now() + resetsIn) / 1000)
    pass.recordResponse({ quota: { resource, limit: 1000, remaining, reset, resetsIn }, isFailure: false })
    pass.end()
  }
  return { time, budget, enter, ask: enterAs, order, now, left }
}

const takePermit = async (
  entered: Promise<RequestSendPermit | ThrottledRequest>,
): Promise<RequestSendPermit> => {
  const pass = await entered
  if (pass.kind !== 'pass') throw new Error(`held: ${pass.why}`)
  return pass
}

describe('the hourly quota', () => {
  test.each([
    [1000, ['pass', 'pass', 'pass', 'pass']],
    [500, ['pass', 'pass', 'pass', 'quota']],
    [300, ['pass', 'pass', 'quota', 'quota']],
    [100, ['pass', 'quota', 'quota', 'quota']],
    [1, ['pass', 'quota', 'quota', 'quota']],
    [0, ['quota', 'quota', 'quota', 'quota']],
  ] as const)('with %i of 1000 left at its start admits requests by priority', async (remaining, said) => {
    const { now, left } = createTestRequestBudget()
    await left(remaining)
    const works = ['landing', 'look', 'sweep', 'scan'] as const
    for (const [index, work] of works.entries()) expect([work, await now(work)]).toEqual([work, said[index]])
  })

  test('reserves only what more important work may need until it resets', async () => {
    const { now, left, enter, time } = createTestRequestBudget()
    await left(251)
    const held = (await enter('scan')) as ThrottledRequest
    // Half of the limit for an hour is a quarter for half an hour.
    expect(held).toMatchObject({ kind: 'held', why: 'quota', milliseconds: 1800_000 })
    await time.advance(held.milliseconds - 1000)
    expect(await now('scan')).toBe('waits')
    await time.advance(1000)
    expect(await now('scan')).toBe('pass')
  })

  test('lets work that has begun use half of its reserve', async () => {
    const { now, left } = createTestRequestBudget()
    await left(400)
    expect(await now('scan')).toBe('quota')
    expect(await now('scan', { hasBegun: true })).toBe('pass')
    await left(240)
    expect(await now('scan', { hasBegun: true })).toBe('quota')
  })

  test('that is used up blocks only its resource, until it resets', async () => {
    const { now, left, enter, time } = createTestRequestBudget()
    await left(0, 600_000)
    expect(await enter('landing')).toMatchObject({ why: 'quota', milliseconds: 600_000 })
    expect(await now('landing', { resource: 'graphql' })).toBe('pass')
    await time.advance(600_000)
    expect(await now('scan')).toBe('pass')
  })

  test('is the lowest reported value, regardless of the order of the responses', async () => {
    const { now, enter, time } = createTestRequestBudget()
    const [first, second, third] = [await takePermit(enter('landing')), await takePermit(enter('landing')), await takePermit(enter('landing'))] // prettier-ignore
    const quota = { resource: 'core', limit: 1000, reset: 10_000, resetsIn: 3600_000 } as const
    first.recordResponse({ quota: { ...quota, remaining: 0 }, isFailure: false })
    second.recordResponse({ quota: { ...quota, remaining: 900 }, isFailure: false })
    // A late response from the previous hour.
    third.recordResponse({
      quota: { ...quota, remaining: 900, reset: 6400, resetsIn: 1000 },
      isFailure: false,
    })
    for (const pass of [first, second, third]) pass.end()
    expect(await now('landing')).toBe('quota')
    await time.advance(3600_000)
    expect(await now('landing')).toBe('pass')
  })

  test('counts running requests as spent', async () => {
    const { enter, left, now } = createTestRequestBudget()
    await left(2)
    const under = [await takePermit(enter('landing')), await takePermit(enter('landing'))]
    expect(await now('landing')).toBe('quota')
    for (const pass of under) pass.end()
    expect(await now('landing')).toBe('pass')
  })

  test('resets at the time that GitHub reports, even if the system clock is set', async () => {
    const { enter, left, now, time } = createTestRequestBudget()
    await left(0, 600_000)
    time.set(Date.UTC(2031, 0, 1))
    expect(await enter('landing')).toMatchObject({ why: 'quota', milliseconds: 600_000 })
    time.set(Date.UTC(2001, 0, 1))
    await time.advance(600_000)
    expect(await now('landing')).toBe('pass')
  })
})

describe('writes', () => {
  test('are a second apart, by priority, then in order of arrival', async () => {
    const { ask, order, time } = createTestRequestBudget()
    ask('first', 'scan', sampleWriteRequest)
    ask('scan', 'scan', sampleWriteRequest)
    ask('sweep', 'sweep', sampleWriteRequest)
    ask('look 1', 'look', sampleWriteRequest)
    ask('look 2', 'look', sampleWriteRequest)
    ask('landing', 'landing', sampleWriteRequest)
    await flushEventLoop()
    expect(order).toEqual(['first'])
    await time.advance(999)
    expect(order).toEqual(['first'])
    for (const [index, next] of ['landing', 'look 1', 'look 2', 'sweep', 'scan'].entries()) {
      await time.advance(index === 0 ? 1 : 1000)
      expect(order.at(-1)).toBe(next)
      expect(order).toHaveLength(index + 2)
    }
  })

  test('do not delay reads, and setting the clock does not delay writes', async () => {
    const { ask, order, time } = createTestRequestBudget()
    ask('one', 'look', sampleWriteRequest)
    ask('two', 'look', sampleWriteRequest)
    ask('read', 'scan')
    await flushEventLoop()
    expect(order).toEqual(['one', 'read'])
    time.set(Date.UTC(2001, 0, 1))
    await time.advance(1000)
    expect(order).toEqual(['one', 'read', 'two'])
  })

  test('are not delayed if the server has no such limit', async () => {
    const { ask, order } = createTestRequestBudget(noGitHubRateLimits)
    for (let count = 0; count < 200; count += 1) ask(String(count), 'scan', sampleCommentRequest)
    await flushEventLoop()
    expect(order).toHaveLength(200)
  })
})

describe('the limit per minute', () => {
  test('is a number of points, some of which are reserved for important work', async () => {
    const { now } = createTestRequestBudget({ ...documentedGitHubRateLimits, writePause: 0 })
    for (let count = 0; count < 450; count += 1) expect(await now('scan')).toBe('pass')
    // A minute is too long for a scan to wait in place.
    expect(await now('scan')).toBe('points')
    for (let count = 0; count < 90; count += 1) expect(await now('landing', sampleWriteRequest)).toBe('pass')
    expect(await now('landing')).toBe('points')
    expect(await now('landing', { resource: 'graphql' })).toBe('pass')
  })

  test('is not used up by reads before a write that came first', async () => {
    const { now, enter, ask, order, time } = createTestRequestBudget({
      ...documentedGitHubRateLimits,
      restPoints: 10,
      writePause: 0,
    })
    for (let count = 0; count < 6; count += 1) {
      expect(await now('landing')).toBe('pass')
      await time.advance(8000)
    }
    ask('write', 'landing', sampleWriteRequest)
    ask('read', 'landing')
    await flushEventLoop()
    expect(order).toEqual([])
    await time.advance(12_000)
    expect(order).toEqual(['write'])
    await time.advance(8_000)
    expect(order).toEqual(['write', 'read'])
    expect(await enter('scan')).toMatchObject({ kind: 'held', why: 'points' })
  })

  test('and the limit per hour restrict created content', async () => {
    const { now, time } = createTestRequestBudget({
      ...documentedGitHubRateLimits,
      writePause: 0,
      restPoints: Infinity,
    })
    for (let count = 0; count < 80; count += 1)
      expect(await now('landing', sampleCommentRequest)).toBe('pass')
    expect(await now('landing', sampleCommentRequest)).toBe('content')
    expect(await now('landing', sampleWriteRequest)).toBe('pass')
    for (let minutes = 0; minutes < 6; minutes += 1) {
      await time.advance(60_000)
      for (let count = 0; count < 70; count += 1)
        expect(await now('landing', sampleCommentRequest)).toBe('pass')
    }
    await time.advance(60_000)
    expect(await now('landing', sampleCommentRequest)).toBe('content')
  })
})

describe('concurrent requests', () => {
  test('are ten at most, and the last slots are reserved for important work', async () => {
    const { enter, now } = createTestRequestBudget()
    const under = await Promise.all(Array.from({ length: 5 }, () => takePermit(enter('scan'))))
    expect(await now('scan')).toBe('waits')
    for (let more = 0; more < 2; more += 1) under.push(await takePermit(enter('sweep')))
    expect(await now('sweep')).toBe('waits')
    for (let more = 0; more < 3; more += 1) under.push(await takePermit(enter('landing')))
    expect(await now('landing')).toBe('waits')
    const waiting = enter('landing')
    under[0]?.end()
    expect((await waiting).kind).toBe('pass')
  })

  test('that wait too long for a slot are held', async () => {
    const { enter, time } = createTestRequestBudget()
    for (let count = 0; count < 10; count += 1) await takePermit(enter('landing'))
    const waiting = enter('landing')
    await time.advance(60_000)
    expect(await waiting).toMatchObject({ kind: 'held', why: 'slots' })
  })
})

describe('a secondary limit', () => {
  const secondaryLimit = { rejection: { kind: 'secondary', seconds: 600 }, isFailure: false } as const

  test('holds everything as long as GitHub requires, then admits one request alone', async () => {
    const { enter, now, budget, time } = createTestRequestBudget(noGitHubRateLimits)
    const both = [await takePermit(enter('look')), await takePermit(enter('look'))]
    for (const pass of both) pass.recordResponse(secondaryLimit)
    for (const pass of both) pass.end()
    expect(await enter('landing', { resource: 'graphql' })).toMatchObject({
      why: 'pause',
      milliseconds: 600_000,
    })
    expect(budget.getDelay('landing')).toBe(600_000)
    await time.advance(600_000)
    const probe = await takePermit(enter('landing'))
    expect(await now('landing')).toBe('waits')
    probe.recordResponse({ isFailure: false })
    probe.end()
    await flushEventLoop()
    expect([await now('landing'), await now('landing')]).toEqual(['pass', 'pass'])
  })

  test('without a duration lasts a minute, then twice as long each time until a success', async () => {
    const { enter, time } = createTestRequestBudget(noGitHubRateLimits)
    for (const minutes of [1, 2, 4]) {
      const pass = await takePermit(enter('landing'))
      pass.recordResponse({ rejection: { kind: 'secondary' }, isFailure: false })
      pass.end()
      expect(await enter('landing')).toMatchObject({ milliseconds: minutes * 60_000 })
      await time.advance(minutes * 60_000)
    }
    const well = await takePermit(enter('landing'))
    well.recordResponse({ isFailure: false })
    well.end()
    const again = await takePermit(enter('landing'))
    again.recordResponse({ rejection: { kind: 'secondary' }, isFailure: false })
    again.end()
    expect(await enter('landing')).toMatchObject({ milliseconds: 60_000 })
  })

  test('that ends soon delays important requests instead of holding them', async () => {
    const { enter, ask, order, time } = createTestRequestBudget(noGitHubRateLimits)
    const pass = await takePermit(enter('look'))
    pass.recordResponse({ rejection: { kind: 'secondary', seconds: 8 }, isFailure: false })
    pass.end()
    ask('look', 'look')
    ask('scan', 'scan')
    await flushEventLoop()
    expect(order).toEqual(['scan held: pause'])
    await time.advance(8000)
    expect(order).toEqual(['scan held: pause', 'look'])
  })
})
