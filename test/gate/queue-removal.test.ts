import { expect, test } from '@jest/globals'
import { formatRemoval, isByPerson } from '../../src/gate/queue-removal.ts'
import { decide } from '../../src/gate/decide.ts'
import { composeReport } from '../../src/messages/report.ts'
import { aGateInput } from './build.ts'

/** The `reason` of `pull_request.dequeued` in GitHub's webhook schema (@octokit/openapi-webhooks-types 12.2.0). */
const reasons = [
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

const removal = (reason: string, by?: string) => ({
  id: '1',
  at: '',
  reason,
  ...(by !== undefined && { by }),
})

test('each reason to leave the queue has a sentence, in both spellings of GitHub', () => {
  const unknown = formatRemoval(undefined)
  const told = reasons.map((reason) => formatRemoval(removal(reason)))
  expect(told.filter((text) => text === unknown)).toHaveLength(1)
  expect(reasons.map((reason) => formatRemoval(removal(reason.toLowerCase())))).toEqual(told)
  expect(formatRemoval(removal('failed checks'))).toBe('a required check failed in the merge queue')
})

test('what a person did holds, for any reason, unless it was merged', () => {
  const holding = reasons.filter((reason) => isByPerson(removal(reason, 'bob')))
  expect(reasons.filter((reason) => !holding.includes(reason))).toEqual(['MERGE', 'ALREADY_MERGED'])
  expect(reasons.filter((reason) => isByPerson(removal(reason)))).toEqual([])
})

test('a removed pull request waits, and its comment says who removed it and how to ask for the merge', () => {
  const verdict = decide(aGateInput({ removedBy: 'bob' }))
  expect(verdict).toMatchObject({ kind: 'wait', reasons: [{ code: 'removed-from-queue', who: ['bob'] }] })
  expect(verdict.permit).toBeUndefined()
  const { comment } = composeReport(verdict, { changeLines: [] })
  expect(comment).toContain('It was removed from the merge queue by bob.')
  expect(comment).toContain('`/merge`')
})
