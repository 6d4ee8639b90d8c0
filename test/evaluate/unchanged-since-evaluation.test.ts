// Which changed update times do not need another evaluation, and which inputs are cached for the next base.
import { expect, test } from '@jest/globals'
import { createInMemoryCache } from '../../src/catalogs/memory-cache.ts'
import { cacheEvaluation, findPullsUnchangedSinceEvaluation } from '../../src/evaluate/publish-evaluation.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import type { OpenPullSummary } from '../../src/ports/forge.ts'
import { createTestPullSnapshot, createVerdictInput } from '../policy/verdict-inputs.ts'

const snapshot = createTestPullSnapshot()
const { repository, pull } = snapshot
const listed: OpenPullSummary = { ...snapshot, author: null, updatedAt: '2026-11-28T12:00:01Z' }

test.each([
  ['unchanged if GitHub shows it as it was evaluated', [[pull, '2026-11-28T12:00:01Z']], [pull]],
  ['evaluated again if GitHub shows another state', [], []],
  ["evaluated again if GitHub's answer is older than its list", [[pull, '2026-11-28T12:00:00Z']], []],
] as const)('a pull request is %s', async (_, same, unchanged) => {
  const getCached = async (__: unknown, keys: readonly string[]) =>
    new Map(keys.map((key) => [key, { snapshot }]))
  const context = {
    app: { store: { getCached } },
    forge: { repository, findUnchanged: async () => new Map(same) },
  }
  expect([...(await findPullsUnchangedSinceEvaluation([listed], context as never))]).toEqual(unchanged)
})

test('an evaluation with an unanswered question removes the cached inputs of an earlier one', async () => {
  const clock = { now: () => 0 }
  const context = {
    app: { store: createInMemoryCache(clock), clock, settings: { gitUrl: 'https://github.com' } },
    forge: {
      repository,
      findUnchanged: async (cached: readonly unknown[]) =>
        new Map(cached.map(() => [pull, listed.updatedAt])),
    },
  }
  const evaluation = { snapshot, verdict: decideVerdict(createVerdictInput()), report: { changeLines: [] } }
  const countCached = async () => (await findPullsUnchangedSinceEvaluation([listed], context as never)).size
  await cacheEvaluation(evaluation as never, new Map([['a', { kind: 'absent' }]]) as never, context as never)
  expect(await countCached()).toBe(1)
  await cacheEvaluation(evaluation as never, new Map([['a', { kind: 'unknown' }]]) as never, context as never)
  expect(await countCached()).toBe(0)
})
