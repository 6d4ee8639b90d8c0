import { describe, expect, test } from '@jest/globals'
import { createHealthMonitor } from '../../src/server/health.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import { ForgeError } from '../../src/adapters/github/forge-error.ts'

const reachableStore = { ping: () => Promise.resolve() }
const noDelayClock = { ...systemClock, sleep: () => Promise.resolve() }

describe('the bot', () => {
  test('is ready if the database responds, before the first request to GitHub', async () => {
    expect(await createHealthMonitor(reachableStore, systemClock).report()).toEqual({
      isReady: true,
      problems: [],
    })
  })
  test.each([
    ['fails', { ping: () => Promise.reject(new Error('gone')) }],
    ['never responds', { ping: () => new Promise<void>(() => undefined) }],
  ])('is not ready if the database %s', async (_how, store) => {
    const report = await createHealthMonitor(store, noDelayClock).report()
    expect(report).toEqual({ isReady: false, problems: ['the database does not respond'] })
  })
  test('is not ready while GitHub does not accept its credentials', async () => {
    const health = createHealthMonitor(reachableStore, systemClock)
    health.recordGitHubResult(new ForgeError('unauthorized', 'no'))
    expect(await health.report()).toMatchObject({
      isReady: false,
      problems: [expect.stringContaining('APP_ID and PRIVATE_KEY')],
    })
    health.recordGitHubResult()
    expect((await health.report()).isReady).toBe(true)
  })
  test('stores deliveries while GitHub does not respond, and reports since when', async () => {
    const health = createHealthMonitor(reachableStore, { ...systemClock, now: () => 0 })
    health.recordGitHubResult(new ForgeError('unavailable', 'GitHub answered 502'))
    expect(await health.report()).toMatchObject({
      isReady: true,
      problems: [expect.stringContaining('1970-01-01T00:00:00')],
    })
  })
  test("is ready while jobs wait for GitHub's limit, and reports which limit, and until when", async () => {
    const held = [{ installation: 7, works: ['sweep', 'scan'] as const, until: 1_800_000 }]
    expect(await createHealthMonitor(reachableStore, systemClock, () => held).report()).toEqual({
      isReady: true,
      problems: [
        "to stay within GitHub's rate limit for installation 7, catalog-bot delays this work until 1970-01-01T00:30:00.000Z: sweeps, image scans",
      ],
    })
  })
})
