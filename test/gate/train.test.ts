import { describe, expect, test } from '@jest/globals'
import { commitSha, pullNumber, treeSha } from '../../src/change/ids.ts'
import { mint, type Landing } from '../../src/gate/merge-permit.ts'
import { longestTrain, mayShareAPush, nextLength, orderTrain, whyNoTrain } from '../../src/gate/train.ts'
import { noRules } from './no-rules.ts'

const id = (digit: string) => commitSha(digit.repeat(40))
const permit = (pull: number, base: string, commit: string, more: Partial<Landing> = {}) =>
  mint({
    repository: { owner: 'coast', name: 'operators' },
    pull: pullNumber(pull),
    baseRef: 'main',
    base: id(base),
    head: id('9'),
    commit: id(commit),
    tree: treeSha('8'.repeat(40)),
    config: 'c',
    ...more,
  })

describe('the order of a train', () => {
  test('whoever was ready first goes first, at the same moment the lower number', () => {
    const ready = [
      { pull: pullNumber(3), readyAt: 5 },
      { pull: pullNumber(2), readyAt: 7 },
      { pull: pullNumber(1), readyAt: 7 },
      { pull: pullNumber(9), readyAt: 1 },
    ]
    expect(orderTrain(ready).map(({ pull }) => pull)).toEqual([9, 3, 1, 2])
  })
})

describe('permits are a train', () => {
  test('where each stands exactly on the one before it', () => {
    expect(whyNoTrain([permit(1, '0', '1'), permit(2, '1', '2'), permit(3, '2', '3')])).toBeUndefined()
  })
  test.each([
    ['none', []],
    ['a gap', [permit(1, '0', '1'), permit(2, '0', '2')]],
    ['another branch', [permit(1, '0', '1'), permit(2, '1', '2', { baseRef: 'v4.20' })]],
    [
      'another repository',
      [permit(1, '0', '1'), permit(2, '1', '2', { repository: { owner: 'coast', name: 'other' } })],
    ],
    ['a pull request twice', [permit(1, '0', '1'), permit(1, '1', '2')]],
  ])('not with %s', (_, permits) => {
    expect(whyNoTrain(permits)).toBeDefined()
  })
})

describe('a branch takes several merges in one push', () => {
  const method = { kind: 'push', checksFirst: false, signed: false } as const
  test('by a plain push where it has no rules', () => {
    expect(mayShareAPush({ method }, noRules)).toBe(true)
  })
  test('by a push with our checks on its tip', () => {
    const checks = { required: [{ name: 'catalog-bot / validation' }], strict: false }
    expect(mayShareAPush({ method: { ...method, checksFirst: true } }, { ...noRules, checks })).toBe(true)
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
    expect(mayShareAPush(plan, rules)).toBe(false)
  })
})

describe('the length of the next train', () => {
  test('halves down to one while trains are refused: a bad member is alone after few pushes', () => {
    let length = longestTrain
    let pushes = 0
    for (; length > 1; pushes++) length = nextLength(length, 'refused')
    expect(pushes).toBe(Math.log2(longestTrain))
    expect(nextLength(1, 'refused')).toBe(1)
  })
  test('doubles up to the longest while they land', () => {
    expect(nextLength(3, 'landed')).toBe(6)
    expect(nextLength(longestTrain, 'landed')).toBe(longestTrain)
  })
})
