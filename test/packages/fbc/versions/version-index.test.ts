import { describe, expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import {
  isVersionInRange,
  parseVersionRange,
  type VersionRange,
  VersionIndex,
} from '../../../../packages/fbc/src/versions/version-range.ts'
import { compareVersions, parseVersion, type Version } from '../../../../packages/fbc/src/versions/version.ts'

const parseVersionOrThrow = (text: string): Version => {
  const parsed = parseVersion(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}
const parseVersionRangeOrThrow = (text: string): VersionRange => {
  const parsed = parseVersionRange(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

const versionArbitrary = fc
  .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('', '', '-0', '-a', '-a.1', '+b', '-a+b'))
  .map(([major, minor, patch, rest]) => `${major}.${minor}.${patch}${rest}`)
const versionRangeArbitrary = fc
  .array(
    fc
      .array(fc.tuple(fc.constantFrom('', '!=', '<', '<=', '>', '>='), versionArbitrary), {
        minLength: 1,
        maxLength: 4,
      })
      .map((terms) => terms.map(([operator, text]) => operator + text).join(' ')),
    { minLength: 1, maxLength: 3 },
  )
  .map((alternatives) => alternatives.join(' || '))

describe('the version index', () => {
  test('finds the same version as a linear search', () => {
    fc.assert(
      fc.property(
        fc.array(versionArbitrary),
        versionRangeArbitrary,
        versionArbitrary,
        (texts, rangeText, middleText) => {
          const index = new VersionIndex(texts, parseVersionOrThrow)
          const [queried, middle] = [parseVersionRangeOrThrow(rangeText), parseVersionOrThrow(middleText)]
          const inside = texts
            .filter((text) => isVersionInRange(parseVersionOrThrow(text), queried))
            .sort((a, b) => compareVersions(parseVersionOrThrow(a), parseVersionOrThrow(b)))
          const order = (text: string) => compareVersions(parseVersionOrThrow(text), middle)
          expect(index.find(queried)).toBe(inside[0])
          expect(index.find(queried, { olderThan: middle })).toBe(inside.find((text) => order(text) < 0))
          expect(index.find(queried, { newerThan: middle })).toBe(inside.find((text) => order(text) > 0))
          expect(index.countOlder(middle)).toBe(texts.filter((text) => order(text) < 0).length)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('omits entries without a version', () => {
    const index = new VersionIndex(['x', '1.0.0'], (text) =>
      text === 'x' ? undefined : parseVersionOrThrow(text),
    )
    expect(index.find(parseVersionRangeOrThrow('>=0.0.0'))).toBe('1.0.0')
    expect(index.length).toBe(1)
  })
})
