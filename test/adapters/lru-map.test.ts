import { expect, test } from '@jest/globals'
import { LruMap } from '../../src/adapters/lru-map.ts'

test('the size of keys counts like the size of values', () => {
  const map = new LruMap<string, string>(100, (value, key) => value.length + key.length)
  for (let index = 10; index < 60; index++) map.set(`${index}`.padEnd(20, 'k'), '')
  expect(map.size).toBe(5)
  map.set('k'.repeat(101), '')
  expect(map.get('k'.repeat(101))).toBeUndefined()
})

test('expired entries are not returned, and are removed when the next entry is added', () => {
  const time = { now: 0 }
  const map = new LruMap<string, { until: number }>(
    1000,
    () => 1,
    ({ until }) => until <= time.now,
  )
  for (let index = 0; index < 500; index++) map.set(`${index}`, { until: 10 })
  expect(map.get('7')).toEqual({ until: 10 })
  time.now = 10
  expect(map.get('7')).toBeUndefined()
  map.set('new', { until: 20 })
  expect(map.size).toBe(1)
})
