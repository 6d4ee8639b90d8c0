// Who may see what, as a table, and what holds of every line of it.
import { describe, expect, test } from '@jest/globals'
import { decideVisibility, type VisibilityInputs } from '../../../src/web/server/repository-access.ts'
import {
  parseClientAddress,
  createConcurrencyLimiter,
  createRequestRateLimiter,
} from '../../../src/web/server/request-rate-limiter.ts'

const hourMs = 3600_000
const createSightQuestion = (more: Partial<VisibilityInputs>): VisibilityInputs => ({
  pages: 'public',
  listed: { isPublic: true, listedAt: 0 },
  isSignedIn: false,
  now: 0,
  publicFor: hourMs,
  ...more,
})
const privateListing = { isPublic: false, listedAt: 0 }

test.each([
  ['a public repository, to anybody', {}, 'yes'],
  ['a private one, to a stranger', { listed: privateListing }, 'no'],
  ['one where the App is not, to a stranger', { listed: undefined }, 'no'],
  ['a private one, to somebody signed in', { listed: privateListing, isSignedIn: true }, 'ask'],
  ['one where the App is not, to somebody signed in', { listed: undefined, isSignedIn: true }, 'ask'],
  ['one that was public an hour ago', { now: hourMs + 1 }, 'no'],
  ['one that was public an hour ago, to somebody signed in', { now: hourMs + 1, isSignedIn: true }, 'ask'],
  ['a public one among pages for who is signed in', { pages: 'signed-in' }, 'no'],
  ['the same, signed in', { pages: 'signed-in', isSignedIn: true }, 'yes'],
  ['a public one without pages', { pages: 'off', isSignedIn: true }, 'no'],
] as const)('%s', (_name, more, sight) => expect(decideVisibility(createSightQuestion(more))).toBe(sight))

test('whatever the settings, nobody sees a private repository unasked', () => {
  for (const pages of ['off', 'public', 'signed-in'] as const)
    for (const isSignedIn of [false, true])
      for (const now of [0, 2 * hourMs])
        expect(
          decideVisibility(createSightQuestion({ pages, isSignedIn, now, listed: privateListing })),
        ).not.toBe('yes')
})

describe('what strangers may ask for', () => {
  test('is so much a minute for each, and comes back with time', () => {
    const time = { now: 0 }
    const budget = createRequestRateLimiter(3, () => time.now)
    expect([1, 2, 3, 4].map(() => budget.take('one'))).toEqual([true, true, true, false])
    expect(budget.take('other')).toBe(true)
    time.now += 20_000
    expect([budget.take('one'), budget.take('one')]).toEqual([true, false])
  })
  const from = (remoteAddress: string, forwarded?: string) =>
    parseClientAddress({
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    } as never)
  test('is counted by who asks: a proxy of ours is believed, its clients are not', () => {
    expect(from('10.0.0.1', '198.51.100.7, 203.0.113.9')).toBe('203.0.113.9')
    expect(from('203.0.113.9', '198.51.100.7')).toBe('203.0.113.9')
    expect(from('10.0.0.1', 'nonsense')).toBe('10.0.0.1')
    expect(from('2001:db8:1:2:3::4')).toBe(from('2001:db8:1:2:ffff::9'))
  })
  test('is done a few at a time, and who is too many is told so', async () => {
    const gate = createConcurrencyLimiter(1, 1)
    let release: () => void = () => undefined
    const first = gate(() => new Promise<string>((resolve) => (release = () => resolve('first'))))
    const second = gate(() => Promise.resolve('second'))
    expect(await gate(() => Promise.resolve('third'))).toBeUndefined()
    release()
    expect(await Promise.all([first, second])).toEqual(['first', 'second'])
    expect(await gate(() => Promise.resolve('fourth'))).toBe('fourth')
  })
})
