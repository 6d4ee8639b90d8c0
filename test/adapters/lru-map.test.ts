import { expect, test } from '@jest/globals'
import { LruMap } from '../../src/adapters/lru-map.ts'

test('a key counts as much as its value', () => {
  const map = new LruMap<string, string>(100, (value, key) => value.length + key.length)
  for (let turn = 10; turn < 60; turn++) map.set(`${turn}`.padEnd(20, 'k'), '')
  expect(map.size).toBe(5)
  map.set('k'.repeat(101), '')
  expect(map.get('k'.repeat(101))).toBeUndefined()
})

test('what is too old is not returned, and leaves with the next entry', () => {
  const time = { now: 0 }
  const map = new LruMap<string, { until: number }>(
    1000,
    () => 1,
    ({ until }) => until <= time.now,
  )
  for (let turn = 0; turn < 500; turn++) map.set(`${turn}`, { until: 10 })
  expect(map.get('7')).toEqual({ until: 10 })
  time.now = 10
  expect(map.get('7')).toBeUndefined()
  map.set('new', { until: 20 })
  expect(map.size).toBe(1)
})
