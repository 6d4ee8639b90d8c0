import { describe, expect, test } from '@jest/globals'
import { isVersionInRange, parseVersionRange } from '../../../../packages/fbc/src/versions/version-range.ts'
import { parseVersion } from '../../../../packages/fbc/src/versions/version.ts'

/** Versions for which the results of Go are recorded. */
const testedVersions = [
  '0.9.0',
  '1.0.0',
  '1.0.5',
  '1.5.0-alpha.1',
  '1.5.0',
  '1.5.0+build2',
  '2.0.0-rc.1',
  '2.0.0',
]

function findMatchingVersions(range: string): string[] | string {
  const parsed = parseVersionRange(range)
  if (!parsed.ok) return parsed.error
  return testedVersions.filter((text) => {
    const version = parseVersion(text)
    return version.ok && isVersionInRange(version.value, parsed.value)
  })
}

describe('a version range', () => {
  test('includes prereleases like any other version', () => {
    expect(findMatchingVersions('>=1.0.0 <2.0.0')).toEqual([
      '1.0.0',
      '1.0.5',
      '1.5.0-alpha.1',
      '1.5.0',
      '1.5.0+build2',
      '2.0.0-rc.1',
    ])
    expect(findMatchingVersions('>=1.0.0 <2.0.0-0')).not.toContain('2.0.0-rc.1')
  })

  test('ignores a space after a comparison operator', () => {
    expect(findMatchingVersions('>= 1.0.0 < 1.5.0')).toEqual(['1.0.0', '1.0.5', '1.5.0-alpha.1'])
  })

  test('silently drops tokens of one byte', () => {
    expect(findMatchingVersions('1.0.0 - 2.0.0')).toEqual([])
    expect(findMatchingVersions('! 1.5.0')).toEqual(['1.5.0', '1.5.0+build2'])
    expect(findMatchingVersions('>=1.0.0 , <1.0.1')).toEqual(['1.0.0'])
  })

  test('supports alternatives, and an empty one between two others matches nothing', () => {
    expect(findMatchingVersions('<1.0.0 || 2.0.0')).toEqual(['0.9.0', '2.0.0'])
    expect(findMatchingVersions('1.0.0 || || 2.0.0')).toEqual(['1.0.0', '2.0.0'])
  })

  test('expands x with the same bugs as blang', () => {
    expect(findMatchingVersions('1.0.x')).toEqual(['1.0.0', '1.0.5'])
    expect(findMatchingVersions('1.x')).toContain('2.0.0-rc.1')
    expect(findMatchingVersions('1.x.x')).toEqual(['1.0.0', '1.0.5'])
    expect(findMatchingVersions('!=1.0.x')).toEqual([])
    expect(findMatchingVersions('~1.0.x')).toEqual(['1.0.0'])
  })

  test.each([
    ['', "Last element in range is '||'"],
    [' ', "Last element in range is '||'"],
    ['x', "Last element in range is '||'"],
    ['|| 1.0.0', "First element in range is '||'"],
    ['1.0.0 ||', "Last element in range is '||'"],
    ['<=1.0.0-fix', 'Could not get version from string: "<"'],
    ['1.0.0-fix', 'Could not get version from string: "<"'],
    ['abc', 'Could not get version from string: "abc"'],
    ['^1.0.0', 'Could not parse Range "^1.0.0": Could not parse comparator "^" in "^1.0.0"'],
    [
      '>=1.5',
      'Could not parse Range ">=1.5": Could not parse version "1.5" in ">=1.5": No Major.Minor.Patch elements found',
    ],
    ['>=1.0.0\t<2.0.0', expect.stringContaining('Invalid character(s) found in patch number')],
  ])('%j is rejected with the error message of blang', (range, error) => {
    expect(findMatchingVersions(range)).toEqual(error)
  })

  test.each(['>=1.0.0-fix', '<1.0.0-x', '^1.x', 'x1.0.0'])(
    '%s is accepted, although the range that it describes is probably not intentional',
    (range) => {
      expect(parseVersionRange(range).ok).toBe(true)
    },
  )
})
