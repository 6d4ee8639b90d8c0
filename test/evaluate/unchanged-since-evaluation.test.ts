// Which changed update times do not need another evaluation.
import { expect, test } from '@jest/globals'
import { findPullsUnchangedSinceEvaluation } from '../../src/evaluate/publish-evaluation.ts'
import type { OpenPullSummary } from '../../src/ports/forge.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'

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
