// When people are told that a pull request is ready: not at once, for it is usually merged by then; and not never.
import { expect, test } from '@jest/globals'
import { secondsToSayReady } from '../../../src/app/jobs/say-later.ts'
import type { JobContext } from '../../../src/app/jobs/job-context.ts'
import { commitSha, pullNumber } from '../../../src/change/ids.ts'
import type { Cache } from '../../../src/ports/cache.ts'
import { aSnapshot, sha } from '../../gate/build.ts'

function place() {
  const kept = new Map<string, unknown>()
  let now = 1_000_000
  const store = {
    getCached: async (_: unknown, keys: readonly string[]) =>
      new Map(keys.flatMap((key) => (kept.has(key) ? [[key, kept.get(key)] as const] : []))),
    putCached: async (_: unknown, values: ReadonlyMap<string, unknown>) => {
      for (const [key, value] of values) kept.set(key, value)
    },
  }
  const context = { app: { store, clock: { now: () => now } } } as unknown as JobContext<Cache>
  return { context, forget: () => kept.clear(), later: (seconds: number) => (now += seconds * 1000) }
}

test('it is told half a minute after it was found to be ready, however often it is looked at', async () => {
  const { context, later } = place()
  const snapshot = aSnapshot()
  expect(await secondsToSayReady(snapshot, context, 'edit')).toBe(30)
  later(20)
  expect(await secondsToSayReady(snapshot, context, 'edit')).toBe(10)
  later(10)
  expect(await secondsToSayReady(snapshot, context, 'edit')).toBe(0)
  later(3600)
  expect(await secondsToSayReady(snapshot, context, 'edit')).toBe(0)
  expect(await secondsToSayReady({ ...snapshot, pull: pullNumber(8) }, context, 'first')).toBe(120)
})

test('another head begins anew, and so does what was forgotten', async () => {
  const { context, forget, later } = place()
  const snapshot = aSnapshot()
  await secondsToSayReady(snapshot, context, 'edit')
  later(40)
  expect(await secondsToSayReady({ ...snapshot, head: commitSha(sha('e')) }, context, 'edit')).toBe(30)
  later(40)
  forget()
  expect(await secondsToSayReady(snapshot, context, 'edit')).toBe(30)
})
