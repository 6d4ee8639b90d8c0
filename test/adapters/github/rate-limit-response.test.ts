// Rate limits in GitHub's responses, relative to GitHub's own clock.
import { describe, expect, test } from '@jest/globals'
import { parseRateLimitQuota, parseRateLimitRejection } from '../../../src/adapters/github/forge-error.ts'

const serverDateHeader = 'Mon, 23 Nov 2026 14:00:00 GMT'
const serverTimeMs = Date.parse(serverDateHeader)
const createHeaderReader = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name]
const rateLimitHeaders = {
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': '12',
  'x-ratelimit-reset': String(serverTimeMs / 1000 + 600),
  'x-ratelimit-resource': 'search',
}

describe('the quota', () => {
  test.each([
    ['correct', 0],
    ['an hour fast', 3600_000],
    ['a day slow', -86_400_000],
  ])('resets after the same time if our clock is %s', (_name, skew) => {
    expect(
      parseRateLimitQuota(
        createHeaderReader({ ...rateLimitHeaders, date: serverDateHeader }),
        serverTimeMs + skew,
      ),
    ).toMatchObject({
      resource: 'search',
      limit: 5000,
      remaining: 12,
      // The quota resets within the named second.
      resetsIn: 601_000,
    })
  })
  test('is relative to our clock if the response has no date', () => {
    expect(parseRateLimitQuota(createHeaderReader(rateLimitHeaders), serverTimeMs + 100_000)).toMatchObject({
      resetsIn: 501_000,
    })
  })
  test.each([
    ['x-ratelimit-limit', '0'],
    ['x-ratelimit-limit', 'many'],
    ['x-ratelimit-remaining', ''],
    ['x-ratelimit-reset', ' '],
  ])('is unknown if %s is "%s"', (name, value) => {
    expect(
      parseRateLimitQuota(createHeaderReader({ ...rateLimitHeaders, [name]: value }), serverTimeMs),
    ).toBeUndefined()
  })
  test('has no resource if the response names an unknown one', () => {
    expect(
      parseRateLimitQuota(
        createHeaderReader({ ...rateLimitHeaders, 'x-ratelimit-resource': 'code_scanning' }),
        serverTimeMs,
      )?.resource,
    ).toBe(undefined)
  })
})

describe('a response', () => {
  const usedUp = { ...rateLimitHeaders, 'x-ratelimit-remaining': '0', date: serverDateHeader }
  test.each([
    [403, usedUp, { kind: 'primary', seconds: 601 }],
    [429, usedUp, { kind: 'primary', seconds: 601 }],
    // The header retry-after has precedence over the quota.
    [403, { ...usedUp, 'retry-after': '30' }, { kind: 'secondary', seconds: 30 }],
    [403, { ...rateLimitHeaders, 'retry-after': '99999' }, { kind: 'secondary', seconds: 3600 }],
    [429, rateLimitHeaders, { kind: 'secondary' }],
    [403, { 'x-ratelimit-remaining': '0' }, { kind: 'primary' }],
    [403, rateLimitHeaders, undefined],
    [404, usedUp, undefined],
    [200, usedUp, undefined],
    [502, { 'retry-after': '30' }, undefined],
  ] as const)('with HTTP %i and %j is classified', (status, headers, refusal) => {
    expect(parseRateLimitRejection(status, createHeaderReader(headers), '')).toEqual(refusal)
  })
})
