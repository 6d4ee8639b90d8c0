// Approvals of a pull request that was retargeted to a branch that the bot does not handle.
import { expect, test } from '@jest/globals'
import { recordPullOnUnmanagedBranch } from '../../src/evaluate/publish-evaluation.ts'
import { createTestStore } from '../jobs/job-context.ts'
import { createTestPullSnapshot } from '../policy/verdict-inputs.ts'

test('a pull request that is retargeted to another branch and back is in a new epoch', async () => {
  const store = createTestStore(() => 0)
  const { repository, pull, head, baseRef } = createTestPullSnapshot()
  const observeHead = () => store.observe(repository, pull, { head, baseRef, config: 'default' })
  expect(await observeHead()).toBe(0)
  await recordPullOnUnmanagedBranch(createTestPullSnapshot({ baseRef: 'release' }), store)
  await recordPullOnUnmanagedBranch(createTestPullSnapshot({ baseRef: 'release' }), store)
  expect(await observeHead()).toBe(2)
})

test('a review that is first read on the other branch does not count after the return', async () => {
  const store = createTestStore(() => 0)
  const { repository, pull } = createTestPullSnapshot()
  const reviews = [
    { id: 7, author: null, state: 'approved', commit: null, submittedAt: '2026-11-23T00:00:00Z' },
  ] as const
  await recordPullOnUnmanagedBranch(createTestPullSnapshot({ baseRef: 'release', reviews }), store)
  expect(await store.firstSeenReviews(repository, pull, 1, [7])).toEqual(new Map([[7, 0]]))
})
