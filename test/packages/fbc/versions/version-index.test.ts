import { describe, expect, test } from '@jest/globals'
import fc from '../../../seeded.ts'
import { isInRange, parseVersionRange } from '../../../../packages/fbc/src/versions/version-range.ts'
import type { VersionRange } from '../../../../packages/fbc/src/versions/version-range.ts'
import { compareVersions, parseVersion } from '../../../../packages/fbc/src/versions/version.ts'
import type { Version } from '../../../../packages/fbc/src/versions/version.ts'
import { VersionIndex } from '../../../../packages/fbc/src/versions/version-index.ts'

const requireVersion = (text: string): Version => {
  const parsed = parseVersion(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}
const requireRange = (text: string): VersionRange => {
  const parsed = parseVersionRange(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

const randomVersion = fc
  .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('', '', '-0', '-a', '-a.1', '+b', '-a+b'))
  .map(([major, minor, patch, rest]) => `${major}.${minor}.${patch}${rest}`)
const randomRange = fc
  .array(
    fc
      .array(fc.tuple(fc.constantFrom('', '!=', '<', '<=', '>', '>='), randomVersion), {
        minLength: 1,
        maxLength: 4,
      })
      .map((terms) => terms.map(([operator, text]) => operator + text).join(' ')),
    { minLength: 1, maxLength: 3 },
  )
  .map((alternatives) => alternatives.join(' || '))

describe('a ladder of versions', () => {
  test('finds what looking at each version finds', () => {
    fc.assert(
      fc.property(fc.array(randomVersion), randomRange, randomVersion, (texts, rangeText, middleText) => {
        const ladder = new VersionIndex(texts, requireVersion)
        const [queried, middle] = [requireRange(rangeText), requireVersion(middleText)]
        const inside = texts
          .filter((text) => isInRange(requireVersion(text), queried))
          .sort((a, b) => compareVersions(requireVersion(a), requireVersion(b)))
        const order = (text: string) => compareVersions(requireVersion(text), middle)
        expect(ladder.find(queried)).toBe(inside[0])
        expect(ladder.find(queried, { olderThan: middle })).toBe(inside.find((text) => order(text) < 0))
        expect(ladder.find(queried, { newerThan: middle })).toBe(inside.find((text) => order(text) > 0))
        expect(ladder.countOlder(middle)).toBe(texts.filter((text) => order(text) < 0).length)
      }),
      { numRuns: 1000 },
    )
  })

  test('leaves out what has no version', () => {
    const ladder = new VersionIndex(['x', '1.0.0'], (text) =>
      text === 'x' ? undefined : requireVersion(text),
    )
    expect(ladder.find(requireRange('>=0.0.0'))).toBe('1.0.0')
    expect(ladder.length).toBe(1)
  })
})
