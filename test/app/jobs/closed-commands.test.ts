// Which comments on a merged pull request may still command anything.
import { expect, test } from '@jest/globals'
import { freshRollbacks } from '../../../src/app/jobs/closed-commands.ts'
import { userId } from '../../../src/change/ids.ts'
import type { Comment } from '../../../src/change/snapshot.ts'

const now = Date.UTC(2026, 10, 22, 12)
const at = (minutesAgo: number) => new Date(now - minutesAgo * 60_000).toISOString()
const comment = (more: Partial<Comment> = {}): Comment => ({
  id: 1,
  author: { id: userId(1), login: 'maria', kind: 'user' },
  body: '/rollback v4.20',
  createdAt: at(5),
  updatedAt: at(5),
  ...more,
})

test('a fresh /rollback of a person may', () => {
  expect(freshRollbacks([comment()], now)).toHaveLength(1)
})

test.each([
  ['that is old: it was about what users had then', comment({ createdAt: at(90), updatedAt: at(90) })],
  ['whose time nobody can read', comment({ createdAt: 'then', updatedAt: 'then' })],
  ['that was edited', comment({ updatedAt: at(1) })],
  ['of a bot', comment({ author: { id: userId(2), login: 'robot[bot]', kind: 'bot' } })],
  ['that gives another command', comment({ body: '/merge' })],
  ['that only speaks of it', comment({ body: 'Should we /rollback this?' })],
])('a comment %s may not', (_name, one) => {
  expect(freshRollbacks([one], now)).toEqual([])
})
