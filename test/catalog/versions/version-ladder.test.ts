import { describe, expect, test } from '@jest/globals'
import fc from '../../seeded.ts'
import { inRange, parseVersionRange } from '../../../src/catalog/versions/version-range.ts'
import type { VersionRange } from '../../../src/catalog/versions/version-range.ts'
import { compareVersions, parseVersion } from '../../../src/catalog/versions/version.ts'
import type { Version } from '../../../src/catalog/versions/version.ts'
import { VersionLadder } from '../../../src/catalog/versions/version-ladder.ts'

const version = (text: string): Version => {
  const parsed = parseVersion(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}
const range = (text: string): VersionRange => {
  const parsed = parseVersionRange(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

const someVersion = fc
  .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('', '', '-0', '-a', '-a.1', '+b', '-a+b'))
  .map(([major, minor, patch, rest]) => `${major}.${minor}.${patch}${rest}`)
const someRange = fc
  .array(
    fc
      .array(fc.tuple(fc.constantFrom('', '!=', '<', '<=', '>', '>='), someVersion), {
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
      fc.property(fc.array(someVersion), someRange, someVersion, (texts, rangeText, middleText) => {
        const ladder = new VersionLadder(texts, version)
        const [asked, middle] = [range(rangeText), version(middleText)]
        const inside = texts
          .filter((text) => inRange(version(text), asked))
          .sort((a, b) => compareVersions(version(a), version(b)))
        const order = (text: string) => compareVersions(version(text), middle)
        expect(ladder.find(asked)).toBe(inside[0])
        expect(ladder.find(asked, { olderThan: middle })).toBe(inside.find((text) => order(text) < 0))
        expect(ladder.find(asked, { newerThan: middle })).toBe(inside.find((text) => order(text) > 0))
        expect(ladder.countOlder(middle)).toBe(texts.filter((text) => order(text) < 0).length)
      }),
      { numRuns: 1000 },
    )
  })

  test('leaves out what has no version', () => {
    const ladder = new VersionLadder(['x', '1.0.0'], (text) => (text === 'x' ? undefined : version(text)))
    expect(ladder.find(range('>=0.0.0'))).toBe('1.0.0')
    expect(ladder.length).toBe(1)
  })
})
