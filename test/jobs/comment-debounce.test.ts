// How long the comment that a pull request is ready is delayed. Usually it is merged by then.
import { expect, test } from '@jest/globals'
import { resolveCommentDelaySeconds } from '../../src/jobs/publish-report.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { toCommitSha, toPullNumber } from '../../src/pull-request/ids.ts'
import type { Cache } from '../../src/ports/cache.ts'
import { createTestPullSnapshot, createHexSha } from '../policy/verdict-inputs.ts'

function createCommentDebounceContext() {
  const storedValues = new Map<string, unknown>()
  let now = 1_000_000
  const store = {
    getCached: async (_: unknown, keys: readonly string[]) =>
      new Map(keys.flatMap((key) => (storedValues.has(key) ? [[key, storedValues.get(key)] as const] : []))),
    putCached: async (_: unknown, values: ReadonlyMap<string, unknown>) => {
      for (const [key, value] of values) storedValues.set(key, value)
    },
  }
  const context = { app: { store, clock: { now: () => now } } } as unknown as JobContext<Cache>
  return { context, forget: () => storedValues.clear(), later: (seconds: number) => (now += seconds * 1000) }
}

test('delays an edit by 30 s and a first comment by 120 s, regardless of further evaluations', async () => {
  const { context, later } = createCommentDebounceContext()
  const snapshot = createTestPullSnapshot()
  expect(await resolveCommentDelaySeconds(snapshot, context, 'edit')).toBe(30)
  later(20)
  expect(await resolveCommentDelaySeconds(snapshot, context, 'edit')).toBe(10)
  later(10)
  expect(await resolveCommentDelaySeconds(snapshot, context, 'edit')).toBe(0)
  later(3600)
  expect(await resolveCommentDelaySeconds(snapshot, context, 'edit')).toBe(0)
  expect(await resolveCommentDelaySeconds({ ...snapshot, pull: toPullNumber(8) }, context, 'first')).toBe(120)
})

test('restarts the delay for another head, and after the cache lost its start', async () => {
  const { context, forget, later } = createCommentDebounceContext()
  const snapshot = createTestPullSnapshot()
  await resolveCommentDelaySeconds(snapshot, context, 'edit')
  later(40)
  expect(
    await resolveCommentDelaySeconds({ ...snapshot, head: toCommitSha(createHexSha('e')) }, context, 'edit'),
  ).toBe(30)
  later(40)
  forget()
  expect(await resolveCommentDelaySeconds(snapshot, context, 'edit')).toBe(30)
})
