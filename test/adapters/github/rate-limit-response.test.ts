// What GitHub's answers say of its limits, read by GitHub's own time.
import { describe, expect, test } from '@jest/globals'
import { parseQuota, parseRateLimitRejection } from '../../../src/adapters/github/rate-limit-response.ts'

const serverDate = 'Mon, 23 Nov 2026 14:00:00 GMT'
const serverTime = Date.parse(serverDate)
const createHeaderReader = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name]
const hourlyLimitHeaders = {
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': '12',
  'x-ratelimit-reset': String(serverTime / 1000 + 600),
  'x-ratelimit-resource': 'search',
}

describe('what is left', () => {
  test.each([
    ['right', 0],
    ['an hour fast', 3600_000],
    ['a day slow', -86_400_000],
  ])('lasts as long where our clock is %s', (_name, skew) => {
    expect(
      parseQuota(createHeaderReader({ ...hourlyLimitHeaders, date: serverDate }), serverTime + skew),
    ).toMatchObject({
      resource: 'search',
      limit: 5000,
      remaining: 12,
      // It begins anew within the second that is named.
      resetsIn: 601_000,
    })
  })
  test('is read by our clock where the answer has no time', () => {
    expect(parseQuota(createHeaderReader(hourlyLimitHeaders), serverTime + 100_000)).toMatchObject({
      resetsIn: 501_000,
    })
  })
  test.each([
    ['x-ratelimit-limit', '0'],
    ['x-ratelimit-limit', 'many'],
    ['x-ratelimit-remaining', ''],
    ['x-ratelimit-reset', ' '],
  ])('is not known where %s is "%s"', (name, value) => {
    expect(
      parseQuota(createHeaderReader({ ...hourlyLimitHeaders, [name]: value }), serverTime),
    ).toBeUndefined()
  })
  test('is of the resource that was asked where the answer names one that nobody knows', () => {
    expect(
      parseQuota(
        createHeaderReader({ ...hourlyLimitHeaders, 'x-ratelimit-resource': 'code_scanning' }),
        serverTime,
      )?.resource,
    ).toBe(undefined)
  })
})

describe('a refusal', () => {
  const usedUp = { ...hourlyLimitHeaders, 'x-ratelimit-remaining': '0', date: serverDate }
  test.each([
    [403, usedUp, { kind: 'primary', seconds: 601 }],
    [429, usedUp, { kind: 'primary', seconds: 601 }],
    // What GitHub says outright goes before what it counts.
    [403, { ...usedUp, 'retry-after': '30' }, { kind: 'secondary', seconds: 30 }],
    [403, { ...hourlyLimitHeaders, 'retry-after': '99999' }, { kind: 'secondary', seconds: 3600 }],
    [429, hourlyLimitHeaders, { kind: 'secondary' }],
    [403, { 'x-ratelimit-remaining': '0' }, { kind: 'primary' }],
    [403, hourlyLimitHeaders, undefined],
    [404, usedUp, undefined],
    [200, usedUp, undefined],
    [502, { 'retry-after': '30' }, undefined],
  ] as const)('of %i with %j', (status, headers, refusal) => {
    expect(parseRateLimitRejection(status, createHeaderReader(headers), '')).toEqual(refusal)
  })
})
