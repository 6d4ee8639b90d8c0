import { describe, expect, test } from '@jest/globals'
import { toCommitSha, toPullNumber, toTreeSha } from '../../src/pull-request/ids.ts'
import { mintMergePermit, type ValidatedMerge } from '../../src/policy/merge-permit.ts'
import {
  maxBatchSize,
  canShareOnePush,
  computeNextBatchSize,
  orderBatch,
  findBatchProblem,
} from '../../src/policy/batch.ts'
import { noRules } from './no-rules.ts'

const createCommitId = (digit: string) => toCommitSha(digit.repeat(40))
const createPermit = (pull: number, base: string, commit: string, more: Partial<ValidatedMerge> = {}) =>
  mintMergePermit({
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

describe('the order of a train', () => {
  test('whoever was ready first goes first, at the same moment the lower number', () => {
    const ready = [
      { pull: toPullNumber(3), readyAt: 5 },
      { pull: toPullNumber(2), readyAt: 7 },
      { pull: toPullNumber(1), readyAt: 7 },
      { pull: toPullNumber(9), readyAt: 1 },
    ]
    expect(orderBatch(ready).map(({ pull }) => pull)).toEqual([9, 3, 1, 2])
  })
})

describe('permits are a train', () => {
  test('where each stands exactly on the one before it', () => {
    expect(
      findBatchProblem([createPermit(1, '0', '1'), createPermit(2, '1', '2'), createPermit(3, '2', '3')]),
    ).toBeUndefined()
  })
  test.each([
    ['none', []],
    ['a gap', [createPermit(1, '0', '1'), createPermit(2, '0', '2')]],
    ['another branch', [createPermit(1, '0', '1'), createPermit(2, '1', '2', { baseRef: 'v4.20' })]],
    [
      'another repository',
      [
        createPermit(1, '0', '1'),
        createPermit(2, '1', '2', { repository: { owner: 'coast', name: 'other' } }),
      ],
    ],
    ['a pull request twice', [createPermit(1, '0', '1'), createPermit(1, '1', '2')]],
  ])('not with %s', (_, permits) => {
    expect(findBatchProblem(permits)).toBeDefined()
  })
})

describe('a branch takes several merges in one push', () => {
  const method = { kind: 'push', checksFirst: false, signed: false } as const
  test('by a plain push where it has no rules', () => {
    expect(canShareOnePush({ method }, noRules)).toBe(true)
  })
  test('by a push with our checks on its tip', () => {
    const checks = { required: [{ name: 'catalog-bot / validation' }], strict: false }
    expect(canShareOnePush({ method: { ...method, checksFirst: true } }, { ...noRules, checks })).toBe(true)
  })
  test.each([
    ['nobody read its rules', { method }, undefined],
    [
      'it requires pull requests',
      { method },
      {
        ...noRules,
        pullRequest: {
          approvals: 0,
          dismissesStale: false,
          lastPushApproval: false,
          codeOwners: false,
          conversations: false,
        },
      },
    ],
    ['it has a rule that nobody knows', { method }, { ...noRules, others: ['code_scanning'] }],
    ['GitHub signs', { method: { ...method, signed: true } }, noRules],
    ['its tree is compared', { method, needsGitHubsTree: true }, noRules],
    ['GitHub merges', { method: { kind: 'github-merge', method: 'merge' } as const }, noRules],
    ['there is no way', {}, noRules],
  ])('not where %s', (_, plan, rules) => {
    expect(canShareOnePush(plan, rules)).toBe(false)
  })
})

describe('the length of the next train', () => {
  test('halves down to one while trains are refused: a bad member is alone after few pushes', () => {
    let length = maxBatchSize
    let pushes = 0
    for (; length > 1; pushes++) length = computeNextBatchSize(length, 'refused')
    expect(pushes).toBe(Math.log2(maxBatchSize))
    expect(computeNextBatchSize(1, 'refused')).toBe(1)
  })
  test('doubles up to the longest while they land', () => {
    expect(computeNextBatchSize(3, 'landed')).toBe(6)
    expect(computeNextBatchSize(maxBatchSize, 'landed')).toBe(maxBatchSize)
  })
})
