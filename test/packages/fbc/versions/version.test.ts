import { describe, expect, test } from '@jest/globals'
import {
  compareVersions,
  parseVersion,
  formatVersion,
} from '../../../../packages/fbc/src/versions/version.ts'
import type { Version } from '../../../../packages/fbc/src/versions/version.ts'

function parseVersionOrThrow(text: string): Version {
  const parsed = parseVersion(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

describe('a version', () => {
  test.each([
    ['', 'Version string empty'],
    ['1.2', 'No Major.Minor.Patch elements found'],
    ['v1.2.3', 'Invalid character(s) found in major number "v1"'],
    ['1.02.3', 'Minor number must not contain leading zeroes "02"'],
    ['1.2.3.4', 'Invalid character(s) found in patch number "3.4"'],
    ['1..3', 'strconv.ParseUint: parsing "": invalid syntax'],
    ['1.2.18446744073709551616', 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
    ['1.2.3-', 'Prerelease is empty'],
    ['1.2.3-01', 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ['1.2.3-a_b', 'Invalid character(s) found in prerelease "a_b"'],
    ['1.2.3+', 'Build meta data is empty'],
    ['1.2.3+a_b', 'Invalid character(s) found in build meta data "a_b"'],
    [' 1.2.3', 'Invalid character(s) found in major number " 1"'],
  ])('%j is rejected with the error message of blang', (text, error) => {
    expect(parseVersion(text)).toEqual({ ok: false, error })
  })

  test.each(['0.0.0', '1.2.3-rc.1+build.01', '1.2.3--', '1.2.18446744073709551615', '1.2.3+a-b'])(
    '%s is formatted as it was written',
    (text) => {
      expect(formatVersion(parseVersionOrThrow(text))).toBe(text)
    },
  )

  test('is ordered by precedence, with exact comparison beyond 2^53', () => {
    const ascending = [
      '0.9.0',
      '1.0.0-1',
      '1.0.0-2',
      '1.0.0-9007199254740993',
      '1.0.0-18446744073709551615',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0',
      '1.0.1',
      '9007199254740992.0.0',
      '9007199254740993.0.0',
    ].map(parseVersionOrThrow)
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries())
        expect(Math.sign(compareVersions(a, b))).toBe(Math.sign(i - j))
    }
  })

  test('is ordered without regard to build metadata', () => {
    expect(compareVersions(parseVersionOrThrow('1.0.0+a'), parseVersionOrThrow('1.0.0+b'))).toBe(0)
  })

  test('with a megabyte of digits is rejected', () => {
    expect(parseVersion(`${'9'.repeat(1_000_000)}.0.0`).ok).toBe(false)
  })
})
