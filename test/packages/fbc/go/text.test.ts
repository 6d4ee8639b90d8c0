import { describe, expect, test } from '@jest/globals'
import {
  compareBytes,
  toLowerLikeGo,
  quoteLikeGo,
  sortByBytes,
} from '../../../../packages/fbc/src/go/text.ts'
import { parseReleaseIdentifiers } from '../../../../packages/fbc/src/versions/version.ts'
import { getJsonStringField } from '../../../../packages/fbc/src/go/json/json.ts'

describe('text as in Go', () => {
  test.each([
    ['plain', '"plain"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\x07\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\x00\x1f\x7f', '"\\x00\\x1f\\x7f"'],
    ['é 漢 😀', '"é 漢 😀"'],
    ['\u0085\u00a0\u200b\ufeff', '"\\u0085\\u00a0\\u200b\\ufeff"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"\ufffd"'],
    // Characters of Unicode 16, which the Go of opm v1.73 does not know.
    ['\u1c89\ua7cb\u{16d40}\u{1fae9}', '"\\u1c89\\ua7cb\\U00016d40\\U0001fae9"'],
    ['\u{10ffff}\ue000\u0378', '"\\U0010ffff\\ue000\\u0378"'],
  ])('%j is quoted as %s', (text, quoted) => {
    expect(quoteLikeGo(text)).toBe(quoted)
  })

  test('of more than a megabyte is truncated when quoted', () => {
    expect(quoteLikeGo('x'.repeat(3_000_000))).toBe(`"${'x'.repeat(1 << 20)}…"`)
  })

  test('is ordered by UTF-8 bytes, not by UTF-16 units', () => {
    expect(sortByBytes(['😀', '\uffff', 'b', 'B', 'a', 'ab'])).toEqual(['B', 'a', 'ab', 'b', '\uffff', '😀'])
    expect(compareBytes('a', 'a')).toBe(0)
  })
})

test.each([
  ['ABC', 'abc'],
  ['Kelvin', 'kelvin'],
  ['İ', 'i'],
  ['ΑΣ', 'ασ'],
  // Newer than the Unicode tables of Go.
  ['\u1c89', '\u1c89'],
])('the lowercase of %s is %s, as in Go', (text, lowercase) => {
  expect(toLowerLikeGo(text)).toBe(lowercase)
})

test.each([
  ['1', undefined],
  ['1.beta-2', undefined],
  [
    '123456789012345678901',
    'invalid release "123456789012345678901": exceeds maximum length of 20 characters',
  ],
  [
    '01..a_b',
    'invalid release "01..a_b": segment 0: Numeric PreRelease version must not contain leading zeroes "01"\n' +
      'segment 1: Prerelease is empty\nsegment 2: Invalid character(s) found in prerelease "a_b"',
  ],
])('the release %s is valid or has an error: %j', (text, error) => {
  const parsed = parseReleaseIdentifiers(text)
  expect(parsed.ok ? undefined : parsed.error).toBe(error)
})

describe('a field of a JSON object', () => {
  test('is found regardless of case, and the last spelling in byte order wins', () => {
    expect(getJsonStringField({ PackageName: 'a', packagename: 'c', packageName: 'b' }, 'packageName')).toBe(
      'c',
    )
    expect(getJsonStringField({ verſion: 'long s' }, 'version')).toBe('long s')
    expect(getJsonStringField({ version: '1', zversion: '2' }, 'version')).toBe('1')
  })

  test('that is null does not replace an earlier spelling', () => {
    expect(getJsonStringField({ Version: '1.0.0', version: null }, 'version')).toBe('1.0.0')
    expect(getJsonStringField(null, 'version')).toBe('')
  })
})
