// Which comments on a merged pull request may still command anything.
import { expect, test } from '@jest/globals'
import { findRecentRollbacks } from '../../../src/server/jobs/handle-closed-pull.ts'
import { toUserId } from '../../../src/pull-request/ids.ts'
import type { PullComment } from '../../../src/pull-request/snapshot.ts'

const now = Date.UTC(2026, 10, 22, 12)
const isoMinutesAgo = (minutesAgo: number) => new Date(now - minutesAgo * 60_000).toISOString()
const createComment = (more: Partial<PullComment> = {}): PullComment => ({
  id: 1,
  author: { id: toUserId(1), login: 'maria', kind: 'user' },
  body: '/rollback v4.20',
  createdAt: isoMinutesAgo(5),
  updatedAt: isoMinutesAgo(5),
  ...more,
})

test('a fresh /rollback of a person may', () => {
  expect(findRecentRollbacks([createComment()], now)).toHaveLength(1)
})

test.each([
  [
    'that is old: it was about what users had then',
    createComment({ createdAt: isoMinutesAgo(90), updatedAt: isoMinutesAgo(90) }),
  ],
  ['whose time nobody can read', createComment({ createdAt: 'then', updatedAt: 'then' })],
  ['that was edited', createComment({ updatedAt: isoMinutesAgo(1) })],
  ['of a bot', createComment({ author: { id: toUserId(2), login: 'robot[bot]', kind: 'bot' } })],
  ['that gives another command', createComment({ body: '/merge' })],
  ['that only speaks of it', createComment({ body: 'Should we /rollback this?' })],
])('a comment %s may not', (_name, one) => {
  expect(findRecentRollbacks([one], now)).toEqual([])
})
