// Which comments on a merged pull request can still run a command.
import { expect, test } from '@jest/globals'
import { ForgeError } from '../../../src/adapters/github/forge-error.ts'
import { executeCommentCommands, findRecentRollbacks } from '../../../src/server/jobs/handle-closed-pull.ts'
import { toUserId } from '../../../src/pull-request/ids.ts'
import type { PullComment } from '../../../src/pull-request/snapshot.ts'
import { createTestAppServices, createTestStore } from '../../jobs/job-context.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'

const currentTimeMs = Date.UTC(2026, 10, 22, 12)
const formatIsoTimeMinutesAgo = (minutesAgo: number) =>
  new Date(currentTimeMs - minutesAgo * 60_000).toISOString()
const createComment = (more: Partial<PullComment> = {}): PullComment => ({
  id: 1,
  author: { id: toUserId(1), login: 'maria', kind: 'user' },
  body: '/rollback v4.20',
  createdAt: formatIsoTimeMinutesAgo(5),
  updatedAt: formatIsoTimeMinutesAgo(5),
  ...more,
})

test('accepts a recent /rollback from a person', () => {
  expect(findRecentRollbacks([createComment()], currentTimeMs)).toHaveLength(1)
})

test.each([
  [
    'that is old, because it referred to what was published then',
    createComment({ createdAt: formatIsoTimeMinutesAgo(90), updatedAt: formatIsoTimeMinutesAgo(90) }),
  ],
  ['with an unreadable time', createComment({ createdAt: 'then', updatedAt: 'then' })],
  ['that was edited', createComment({ updatedAt: formatIsoTimeMinutesAgo(1) })],
  ['by a bot', createComment({ author: { id: toUserId(2), login: 'robot[bot]', kind: 'bot' } })],
  ['that gives another command', createComment({ body: '/merge' })],
  ['that only mentions the command', createComment({ body: 'Should we /rollback this?' })],
])('ignores a comment %s', (_name, one) => {
  expect(findRecentRollbacks([one], currentTimeMs)).toEqual([])
})

test('a reaction that GitHub rejects, as on a deleted comment, does not stop the commands after it', async () => {
  const store = createTestStore(() => currentTimeMs)
  const snapshot = createTestPullSnapshot()
  const perform = async () => Promise.reject(new ForgeError('not-found', 'could not react'))
  const app = createTestAppServices({
    store,
    clock: { now: () => currentTimeMs, sleep: async () => undefined },
  })
  const commands = [1, 2].map((comment) => ({
    record: {
      comment,
      command: 'hold' as const,
      user: toUserId(1),
      login: 'maria',
      outcome: 'done' as const,
      head: snapshot.head,
      baseRef: 'main',
      epoch: 0,
    },
    reaction: '+1' as const,
  }))
  const context = {
    app,
    installation: 1,
    repository: {},
    forge: { repository: snapshot.repository, perform },
  }
  expect(await executeCommentCommands({ snapshot, commands }, context as never)).toBe(true)
  const recorded = await store.commands(snapshot.repository, snapshot.pull)
  expect(recorded.map(({ comment }) => comment)).toEqual([1, 2])
})
