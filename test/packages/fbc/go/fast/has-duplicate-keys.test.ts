import { describe, expect, test } from '@jest/globals'
import { hasDuplicateKeys, type MapEntry } from '../../../../../packages/fbc/src/go/tree.ts'

const parsedNullValue = { kind: 'null', start: 0, end: 0 } as const
const createMapEntries = (keys: readonly string[]): MapEntry[] =>
  keys.map((key) => ({ key, keyStart: 0, keyEnd: 0, value: parsedNullValue }))
const createNumberedKeys = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`)

describe('a duplicate key', () => {
  test.each([1, 2, 16, 17, 40, 1000, 70_000])('is found among %d keys, at any position', (count) => {
    const keys = createNumberedKeys(count)
    expect(hasDuplicateKeys(createMapEntries(keys))).toBe(false)
    for (const at of [0, count >> 1, count - 1])
      expect(hasDuplicateKeys(createMapEntries([...keys, keys[at] as string]))).toBe(true)
  })

  test('is found by its characters, not by its length or its hash', () => {
    const pairs = ['aé', 'éa', '', ' ', 'a', 'A', 'ſ', 's', '\u212a', 'k', '1', '01', '1.0']
    expect(hasDuplicateKeys(createMapEntries([...pairs, ...createNumberedKeys(20)]))).toBe(false)
    expect(hasDuplicateKeys(createMapEntries([...pairs, ...createNumberedKeys(20), 'éa']))).toBe(true)
  })
})
