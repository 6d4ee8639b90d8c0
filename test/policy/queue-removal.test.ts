import { expect, test } from '@jest/globals'
import { formatMergeQueueRemoval, isMergeQueueRemovalByUser } from '../../src/policy/merge-strategy.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderPullReport } from '../../src/report/report.ts'
import { createVerdictInput } from './verdict-inputs.ts'

/** The `reason` of `pull_request.dequeued` in GitHub's webhook schema (@octokit/openapi-webhooks-types 12.2.0). */
const mergeQueueRemovalReasons = [
  'UNKNOWN_REMOVAL_REASON',
  'MANUAL',
  'MERGE',
  'MERGE_CONFLICT',
  'CI_FAILURE',
  'CI_TIMEOUT',
  'ALREADY_MERGED',
  'QUEUE_CLEARED',
  'ROLL_BACK',
  'BRANCH_PROTECTIONS',
  'GIT_TREE_INVALID',
  'INVALID_MERGE_COMMIT',
]

const createMergeQueueRemoval = (reason: string, by?: string) => ({
  id: '1',
  at: '',
  reason,
  ...(by !== undefined && { by }),
})

test('each reason for a removal from the queue has a sentence, in both spellings of GitHub', () => {
  const unknown = formatMergeQueueRemoval(undefined)
  const messages = mergeQueueRemovalReasons.map((reason) =>
    formatMergeQueueRemoval(createMergeQueueRemoval(reason)),
  )
  expect(messages.filter((text) => text === unknown)).toHaveLength(1)
  expect(
    mergeQueueRemovalReasons.map((reason) =>
      formatMergeQueueRemoval(createMergeQueueRemoval(reason.toLowerCase())),
    ),
  ).toEqual(messages)
  expect(formatMergeQueueRemoval(createMergeQueueRemoval('failed checks'))).toBe(
    'a required check failed in the merge queue',
  )
})

test('a removal by a person counts for any reason, unless the pull request was merged', () => {
  const holding = mergeQueueRemovalReasons.filter((reason) =>
    isMergeQueueRemovalByUser(createMergeQueueRemoval(reason, 'bob')),
  )
  expect(mergeQueueRemovalReasons.filter((reason) => !holding.includes(reason))).toEqual([
    'MERGE',
    'ALREADY_MERGED',
  ])
  expect(
    mergeQueueRemovalReasons.filter((reason) => isMergeQueueRemovalByUser(createMergeQueueRemoval(reason))),
  ).toEqual([])
})

test('a removed pull request waits, and its comment says who removed it and how to ask for the merge', () => {
  const verdict = decideVerdict(createVerdictInput({ removedBy: 'bob' }))
  expect(verdict).toMatchObject({ kind: 'wait', reasons: [{ code: 'removed-from-queue', who: ['bob'] }] })
  expect(verdict.permit).toBeUndefined()
  const { comment } = renderPullReport(verdict, { changeLines: [] })
  expect(comment).toContain('This pull request was removed from the merge queue by bob.')
  expect(comment).toContain('`/merge`')
})
