import { expect, test } from '@jest/globals'
import { formatQueueRemoval, isQueueRemovalByPerson } from '../../src/policy/merge-strategy.ts'
import { decideVerdict } from '../../src/policy/decide.ts'
import { renderReport } from '../../src/report/report.ts'
import { createGateInput } from './gate-builders.ts'

/** The `reason` of `pull_request.dequeued` in GitHub's webhook schema (@octokit/openapi-webhooks-types 12.2.0). */
const dequeueReasons = [
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

const createQueueRemoval = (reason: string, by?: string) => ({
  id: '1',
  at: '',
  reason,
  ...(by !== undefined && { by }),
})

test('each reason to leave the queue has a sentence, in both spellings of GitHub', () => {
  const unknown = formatQueueRemoval(undefined)
  const messages = dequeueReasons.map((reason) => formatQueueRemoval(createQueueRemoval(reason)))
  expect(messages.filter((text) => text === unknown)).toHaveLength(1)
  expect(
    dequeueReasons.map((reason) => formatQueueRemoval(createQueueRemoval(reason.toLowerCase()))),
  ).toEqual(messages)
  expect(formatQueueRemoval(createQueueRemoval('failed checks'))).toBe(
    'a required check failed in the merge queue',
  )
})

test('what a person did holds, for any reason, unless it was merged', () => {
  const holding = dequeueReasons.filter((reason) => isQueueRemovalByPerson(createQueueRemoval(reason, 'bob')))
  expect(dequeueReasons.filter((reason) => !holding.includes(reason))).toEqual(['MERGE', 'ALREADY_MERGED'])
  expect(dequeueReasons.filter((reason) => isQueueRemovalByPerson(createQueueRemoval(reason)))).toEqual([])
})

test('a removed pull request waits, and its comment says who removed it and how to ask for the merge', () => {
  const verdict = decideVerdict(createGateInput({ removedBy: 'bob' }))
  expect(verdict).toMatchObject({ kind: 'wait', reasons: [{ code: 'removed-from-queue', who: ['bob'] }] })
  expect(verdict.permit).toBeUndefined()
  const { comment } = renderReport(verdict, { changeLines: [] })
  expect(comment).toContain('This pull request was removed from the merge queue by bob.')
  expect(comment).toContain('`/merge`')
})
