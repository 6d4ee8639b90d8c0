// Who may see which repository, as a table, and an invariant over all settings.
import { describe, expect, test } from '@jest/globals'
import {
  decideRepositoryVisibility,
  type RepositoryVisibilityInputs,
  parseClientIpAddress,
  createConcurrencyLimiter,
  createRequestRateLimiter,
} from '../../../src/web/server/repository-access.ts'

const msPerHour = 3600_000
const createRepositoryVisibilityInputs = (
  more: Partial<RepositoryVisibilityInputs>,
): RepositoryVisibilityInputs => ({
  pages: 'public',
  listed: { isPublic: true, listedAt: 0 },
  isSignedIn: false,
  now: 0,
  publicFor: msPerHour,
  ...more,
})
const listedPrivateRepository = { isPublic: false, listedAt: 0 }

test.each([
  ['a public repository, for a visitor', {}, 'yes'],
  ['a private repository, for a visitor', { listed: listedPrivateRepository }, 'no'],
  ['a repository without the App, for a visitor', { listed: undefined }, 'no'],
  [
    'a private repository, for a signed-in user',
    { listed: listedPrivateRepository, isSignedIn: true },
    'ask',
  ],
  ['a repository without the App, for a signed-in user', { listed: undefined, isSignedIn: true }, 'ask'],
  ['a repository last listed as public an hour ago, for a visitor', { now: msPerHour + 1 }, 'no'],
  [
    'a repository last listed as public an hour ago, for a signed-in user',
    { now: msPerHour + 1, isSignedIn: true },
    'ask',
  ],
  ['a public repository with PAGES=signed-in, for a visitor', { pages: 'signed-in' }, 'no'],
  [
    'a public repository with PAGES=signed-in, for a signed-in user',
    { pages: 'signed-in', isSignedIn: true },
    'yes',
  ],
  ['a public repository with PAGES=off, for a signed-in user', { pages: 'off', isSignedIn: true }, 'no'],
] as const)('%s', (_name, more, sight) =>
  expect(decideRepositoryVisibility(createRepositoryVisibilityInputs(more))).toBe(sight),
)

test('no settings show a private repository without asking GitHub', () => {
  for (const pages of ['off', 'public', 'signed-in'] as const)
    for (const isSignedIn of [false, true])
      for (const now of [0, 2 * msPerHour])
        expect(
          decideRepositoryVisibility(
            createRepositoryVisibilityInputs({ pages, isSignedIn, now, listed: listedPrivateRepository }),
          ),
        ).not.toBe('yes')
})

describe('the limits for clients', () => {
  test('give each client a request budget that refills over time', () => {
    const time = { now: 0 }
    const budget = createRequestRateLimiter(3, () => time.now)
    expect([1, 2, 3, 4].map(() => budget('one'))).toEqual([true, true, true, false])
    expect(budget('other')).toBe(true)
    time.now += 20_000
    expect([budget('one'), budget('one')]).toEqual([true, false])
  })
  const from = (remoteAddress: string, forwarded?: string) =>
    parseClientIpAddress({
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    } as never)
  test('identify a client by the address that our proxy reports, not by one that it claims', () => {
    expect(from('10.0.0.1', '198.51.100.7, 203.0.113.9')).toBe('203.0.113.9')
    expect(from('203.0.113.9', '198.51.100.7')).toBe('203.0.113.9')
    expect(from('10.0.0.1', 'nonsense')).toBe('10.0.0.1')
    expect(from('2001:db8:1:2:3::4')).toBe(from('2001:db8:1:2:ffff::9'))
  })
  test('queue concurrent requests up to a maximum, and reject more', async () => {
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
