import { describe, expect, test } from '@jest/globals'
import { createAdaptiveConcurrencyLimit } from '../../../../src/adapters/registry/retrying-request.ts'
import { createManualClock } from '../manual-clock.ts'

describe('the window', () => {
  test('never runs more tasks than its size, and runs all of them', async () => {
    const window = createAdaptiveConcurrencyLimit({ start: 3, max: 3 }, createManualClock())
    let maxWindow = 0
    let done = 0
    await Promise.all(
      Array.from({ length: 3000 }, () =>
        window.run(async () => {
          maxWindow = Math.max(maxWindow, window.active)
          await Promise.resolve()
          done += 1
        }),
      ),
    )
    expect([maxWindow, done, window.active]).toEqual([3, 3000, 0])
  })
  test('grows with successes up to its maximum', () => {
    const window = createAdaptiveConcurrencyLimit({ start: 8, max: 10 }, createManualClock())
    for (let count = 0; count < 5; count += 1) window.succeeded()
    expect(window.size).toBe(10)
  })
  test('halves once for each burst of rate limit responses, down to a minimum of one', () => {
    const clock = createManualClock()
    const window = createAdaptiveConcurrencyLimit({ start: 8, max: 64 }, clock)
    for (let count = 0; count < 8; count += 1) window.limited(100)
    expect(window.size).toBe(4)
    for (const size of [2, 1, 1]) {
      clock.advance(5000)
      window.limited(100)
      expect(window.size).toBe(size)
    }
  })
  test('delays all tasks while a host is rate limiting', async () => {
    const clock = createManualClock()
    const window = createAdaptiveConcurrencyLimit({ start: 8, max: 8 }, clock)
    window.limited(7000)
    await window.run(async () => undefined)
    expect(clock.slept).toEqual([7000])
  })
  test('a failed task releases its slot', async () => {
    const window = createAdaptiveConcurrencyLimit({ start: 1, max: 1 }, createManualClock())
    await expect(window.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await window.run(async () => 'yes')).toBe('yes')
  })
})
