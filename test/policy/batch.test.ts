import { describe, expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber, toTreeSha } from '../../src/pull-request/ids.ts'
import { createMergePermit, type ValidatedMerge } from '../../src/policy/merge-permit.ts'
import {
  maxBatchSize,
  canMergeBatchInOnePush,
  computeNextBatchSize,
  sortReadyPullsForBatch,
  findMergePermitChainProblem,
} from '../../src/policy/batch.ts'
import { unrestrictedBranchRules } from './no-rules.ts'

const createCommitId = (digit: string) => toCommitSha(digit.repeat(40))
const createPermit = (pull: number, base: string, commit: string, more: Partial<ValidatedMerge> = {}) =>
  createMergePermit({
    repository: { owner: 'coast', name: 'operators' },
    pull: toPullNumber(pull),
    baseRef: 'main',
    base: createCommitId(base),
    head: createCommitId('9'),
    commit: createCommitId(commit),
    tree: toTreeSha('8'.repeat(40)),
    config: 'c',
    ...more,
  })

test('the order of a batch puts the pull request that was ready first at the front, and breaks ties by the lower number', () => {
  const ready = [
    { pull: toPullNumber(3), readyAt: 5 },
    { pull: toPullNumber(2), readyAt: 7 },
    { pull: toPullNumber(1), readyAt: 7 },
    { pull: toPullNumber(9), readyAt: 1 },
  ]
  expect(sortReadyPullsForBatch(ready).map(({ pull }) => pull)).toEqual([9, 3, 1, 2])
})

describe('permits form a batch', () => {
  test('if the base of each is the commit of the previous one', () => {
    expect(
      findMergePermitChainProblem([
        createPermit(1, '0', '1'),
        createPermit(2, '1', '2'),
        createPermit(3, '2', '3'),
      ]),
    ).toBeUndefined()
  })
  test.each([
    ['no permits', []],
    ['a gap', [createPermit(1, '0', '1'), createPermit(2, '0', '2')]],
    ['another branch', [createPermit(1, '0', '1'), createPermit(2, '1', '2', { baseRef: 'v4.20' })]],
    [
      'another repository',
      [
        createPermit(1, '0', '1'),
        createPermit(2, '1', '2', { repository: { owner: 'coast', name: 'other' } }),
      ],
    ],
    ['a duplicate pull request', [createPermit(1, '0', '1'), createPermit(1, '1', '2')]],
  ])('but not with %s', (_, permits) => {
    expect(findMergePermitChainProblem(permits)).toBeDefined()
  })
})

describe('a branch accepts several merges in one push', () => {
  const method = { kind: 'push', checksFirst: false, signed: false } as const
  test('by a plain push if it has no rules', () => {
    expect(canMergeBatchInOnePush({ method }, unrestrictedBranchRules)).toBe(true)
  })
  test('by a push after catalog-bot reports the required check on the tip', () => {
    const checks = { required: [{ name: 'catalog-bot / validation' }], strict: false }
    expect(
      canMergeBatchInOnePush(
        { method: { ...method, checksFirst: true } },
        { ...unrestrictedBranchRules, checks },
      ),
    ).toBe(true)
  })
  test.each([
    ['its rules are unknown', { method }, undefined],
    [
      'it requires pull requests',
      { method },
      {
        ...unrestrictedBranchRules,
        pullRequest: {
          approvals: 0,
          dismissesStale: false,
          lastPushApproval: false,
          codeOwners: false,
          conversations: false,
        },
      },
    ],
    ['it has an unrecognized rule', { method }, { ...unrestrictedBranchRules, others: ['code_scanning'] }],
    ['GitHub signs the merge', { method: { ...method, signed: true } }, unrestrictedBranchRules],
    ["its tree must match GitHub's test merge", { method, needsGitHubsTree: true }, unrestrictedBranchRules],
    [
      'GitHub merges',
      { method: { kind: 'github-merge', method: 'merge' } as const },
      unrestrictedBranchRules,
    ],
    ['no merge method works', {}, unrestrictedBranchRules],
  ])('but not if %s', (_, plan, rules) => {
    expect(canMergeBatchInOnePush(plan, rules)).toBe(false)
  })
})

describe('the size of the next batch', () => {
  test('halves down to one while batches are rejected, so few pushes isolate a bad pull request', () => {
    let length = maxBatchSize
    let pushes = 0
    for (; length > 1; pushes++) length = computeNextBatchSize(length, 'refused')
    expect(pushes).toBe(Math.log2(maxBatchSize))
    expect(computeNextBatchSize(1, 'refused')).toBe(1)
  })
  test('doubles up to the maximum while batches are merged', () => {
    expect(computeNextBatchSize(3, 'landed')).toBe(6)
    expect(computeNextBatchSize(maxBatchSize, 'landed')).toBe(maxBatchSize)
  })
})
