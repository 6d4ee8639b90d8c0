import { describe, expect, test } from '@jest/globals'
import { parseAuthChallenges } from '../../../../src/adapters/registry/auth/authorized-request.ts'

function parseChallengeHeaders(...headers: string[]) {
  return parseAuthChallenges(headers).map(({ scheme, parameters }) => [
    scheme,
    Object.fromEntries(parameters),
  ])
}

describe('challenges', () => {
  test('commas in a quoted scope are part of the scope', () => {
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
  test('one header can contain several challenges, with or without parameters or a token', () => {
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
  test('several headers are parsed in order', () => {
    expect(parseChallengeHeaders('Basic realm="a"', 'Bearer realm="b"').map(([scheme]) => scheme)).toEqual([
      'basic',
      'bearer',
    ])
  })
  test('escapes in quoted strings are decoded, and names and schemes are lowercased', () => {
    expect(parseChallengeHeaders('BEARER Realm="a\\"b\\\\c"')).toEqual([['bearer', { realm: 'a"b\\c' }]])
  })
  test('malformed headers yield no parameters and no exception', () => {
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
