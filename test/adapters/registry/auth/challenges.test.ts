import { describe, expect, test } from '@jest/globals'
import { parseChallenges } from '../../../../src/adapters/registry/auth/authorized-exchange.ts'

function parseChallengeHeaders(...headers: string[]) {
  return parseChallenges(headers).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)])
}

describe('challenges', () => {
  test('commas inside a quoted scope belong to the scope', () => {
    expect(
      parseChallengeHeaders(
        'Bearer realm="https://auth.example/token",service="r.example",scope="repository:a/b:pull,push"',
      ),
    ).toEqual([
      [
        'bearer',
        { realm: 'https://auth.example/token', service: 'r.example', scope: 'repository:a/b:pull,push' },
      ],
    ])
  })
  test('one header may carry several challenges, tokens and blobs between them', () => {
    expect(parseChallengeHeaders('Negotiate, Basic realm="a", Bearer realm=b , service = "c"')).toEqual([
      ['negotiate', {}],
      ['basic', { realm: 'a' }],
      ['bearer', { realm: 'b', service: 'c' }],
    ])
    expect(parseChallengeHeaders('Negotiate YIIabc==, Basic realm="x"')).toEqual([
      ['negotiate', {}],
      ['basic', { realm: 'x' }],
    ])
  })
  test('several headers count in order', () => {
    expect(parseChallengeHeaders('Basic realm="a"', 'Bearer realm="b"').map(([scheme]) => scheme)).toEqual([
      'basic',
      'bearer',
    ])
  })
  test('escapes in quoted strings are undone, names and schemes lose their case', () => {
    expect(parseChallengeHeaders('BEARER Realm="a\\"b\\\\c"')).toEqual([['bearer', { realm: 'a"b\\c' }]])
  })
  test('rubbish gives no challenge and no exception', () => {
    for (const text of [
      '',
      ',,,',
      '"',
      'Bearer realm="open',
      '=',
      'x'.repeat(10_000),
      'Bearer realm=',
      '\u0000',
    ])
      expect(
        parseChallengeHeaders(text).every(([, parameters]) => Object.keys(parameters as object).length === 0),
      ).toBe(true)
  })
})
