import { describe, expect, test } from '@jest/globals'
import { hasDuplicateKeys, type MapEntry } from '../../../../../packages/fbc/src/go/tree.ts'

const parsedNullValue = { kind: 'null', start: 0, end: 0 } as const
const createMapEntries = (keys: readonly string[]): MapEntry[] =>
  keys.map((key) => ({ key, keyStart: 0, keyEnd: 0, value: parsedNullValue }))
const createNumberedKeys = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`)

describe('a key that stands twice in a map', () => {
  test.each([1, 2, 16, 17, 40, 1000, 70_000])('is found among %d keys, wherever it stands', (count) => {
    const keys = createNumberedKeys(count)
    expect(hasDuplicateKeys(createMapEntries(keys))).toBe(false)
    for (const at of [0, count >> 1, count - 1])
      expect(hasDuplicateKeys(createMapEntries([...keys, keys[at] as string]))).toBe(true)
  })

  test('is found by its letters, not by its length or its hash', () => {
    const pairs = ['aé', 'éa', '', ' ', 'a', 'A', 'ſ', 's', '\u212a', 'k', '1', '01', '1.0']
    expect(hasDuplicateKeys(createMapEntries([...pairs, ...createNumberedKeys(20)]))).toBe(false)
    expect(hasDuplicateKeys(createMapEntries([...pairs, ...createNumberedKeys(20), 'éa']))).toBe(true)
  })

  test('is found in time among keys that were chosen to meet in the table', () => {
    // Keys whose hashes end alike: each next one would be compared with all before it.
    const alike: string[] = []
    for (let at = 0; alike.length < 3000; at++) if (computeKeyHashSlot(`k${at}`) === 0) alike.push(`k${at}`)
    expect(hasDuplicateKeys(createMapEntries(alike))).toBe(false)
    for (const again of [0, 1500, 2999])
      expect(hasDuplicateKeys(createMapEntries([...alike, alike[again] as string]))).toBe(true)
  })
})

/** The last bits of the hash that the table uses. */
function computeKeyHashSlot(key: string): number {
  let hash = key.length
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) & 1023
}
