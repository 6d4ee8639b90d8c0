import { describe, expect, test } from '@jest/globals'
import type { BranchRules, PullRequestRuleSettings, MergePlanInput } from '../../src/policy/branch-rules.ts'
import { chooseMergeStrategy } from '../../src/policy/choose-merge-strategy.ts'
import type { MergeStrategy, MergePlan } from '../../src/policy/merge-strategy.ts'
import { unrestrictedBranchRules } from './no-rules.ts'

const appId = 42
const botCheckNames = ['catalog-bot / ownership', 'catalog-bot / validation']
const requiredBotChecks = botCheckNames.map((name) => ({ name, app: appId }))
const appPermissions = { contents: 'write', pull_requests: 'write', checks: 'write', metadata: 'read' }

/** A branch with the two recommended rulesets: the plan has no recommendations. */
const recommendedBranchRules: BranchRules = {
  ...unrestrictedBranchRules,
  checks: { required: requiredBotChecks, strict: false },
  reservedForUs: true,
}

const createPullRule = (more: Partial<PullRequestRuleSettings> = {}): PullRequestRuleSettings => ({
  approvals: 0,
  dismissesStale: false,
  lastPushApproval: false,
  codeOwners: false,
  conversations: false,
  ...more,
})

function planMerge(rules: Partial<BranchRules>, more: Partial<MergePlanInput> = {}): MergePlan {
  return chooseMergeStrategy({
    rules: { ...recommendedBranchRules, ...rules },
    setting: 'auto',
    permissions: appPermissions,
    app: appId,
    ownChecks: botCheckNames,
    pull: { containsBase: false },
    ...more,
  })
}

const checkedPush: MergeStrategy = { kind: 'push', checksFirst: true, signed: false }
const directPush: MergeStrategy = { ...checkedPush, checksFirst: false }
const mergeByGitHub: MergeStrategy = { kind: 'github-merge', method: 'merge' }
const squashByGitHub: MergeStrategy = { kind: 'github-merge', method: 'squash' }
const rebaseByGitHub: MergeStrategy = { kind: 'github-merge', method: 'rebase' }
const upToDate = { pull: { containsBase: true } }

type MergeMethodCase = readonly [
  rules: Partial<BranchRules>,
  /** Undefined: GitHub would not accept any method. */
  method: MergeStrategy | undefined,
  /** Contained in `missing`, or in `because` if there is a method. */
  expectedText: string,
  more?: Partial<MergePlanInput>,
]

const requiredChecksWithCi = { required: [...requiredBotChecks, { name: 'ci' }], strict: false }
const strictRequiredChecks = { required: requiredBotChecks, strict: true }

/** The settings of a branch, as GitHub names them, and the expected plan. */
const mergeMethodCases: Readonly<Record<string, MergeMethodCase>> = {
  'no rule at all': [unrestrictedBranchRules, directPush, 'the branch accepts a push of the validated merge'],
  'our checks, head behind': [
    {},
    checkedPush,
    'adds the required checks to the validated merge before the push',
  ],
  'our checks, head contains base': [{}, directPush, 'a push of the validated merge', upToDate],
  'our checks, by name alone': [
    { checks: { required: [{ name: botCheckNames[0]! }], strict: false } },
    checkedPush,
    'adds the required checks to the validated merge before the push',
  ],
  'our checks, strict, head behind': [
    { checks: strictRequiredChecks },
    checkedPush,
    'adds the required checks to the validated merge',
  ],
  'our checks, no place for a temporary branch': [
    { temporaryBranch: ['creation'] },
    mergeByGitHub,
    'a temporary branch for the merge is blocked by the rule "creation"',
  ],
  'no place for a temporary branch, head contains base': [
    { temporaryBranch: ['creation'] },
    directPush,
    'a push of the validated merge',
    upToDate,
  ],
  'no place for a temporary branch, and none needed': [
    { ...unrestrictedBranchRules, temporaryBranch: ['creation'] },
    directPush,
    'a push of the validated merge',
  ],
  'a check of others, head behind': [
    { checks: requiredChecksWithCi },
    mergeByGitHub,
    'the branch requires the check "ci" to pass before the push, but other apps report only on the heads',
  ],
  'a check of others, head contains base': [
    { checks: requiredChecksWithCi },
    directPush,
    'a push of the validated merge',
    upToDate,
  ],
  'a check of others, strict, head behind': [
    { checks: { ...requiredChecksWithCi, strict: true } },
    undefined,
    'requires the head to be up to date, and this head is behind its base; update the pull request, or turn off that requirement',
  ],
  'a check of others, strict, any pull request': [
    { checks: { ...requiredChecksWithCi, strict: true } },
    mergeByGitHub,
    '"ci"',
    { pull: undefined },
  ],
  'strict without a check has no effect': [
    { ...unrestrictedBranchRules, checks: { required: [], strict: true }, linearHistory: true },
    squashByGitHub,
    'linear history',
  ],
  'our check from another App': [
    { checks: { required: [{ name: botCheckNames[0]!, app: 7 }], strict: false } },
    mergeByGitHub,
    `"${botCheckNames[0]}" from App 7`,
  ],
  'a check of ours that we do not report': [
    { checks: { required: [{ name: 'catalog-bot / install', app: appId }], strict: false } },
    undefined,
    'which does not report that check; require "catalog-bot / ownership" and "catalog-bot / validation" instead',
  ],
  'a pull request without approval': [
    { pullRequest: createPullRule() },
    checkedPush,
    'a push of the validated merge',
  ],
  'a pull request with approvals': [
    { pullRequest: createPullRule({ approvals: 2, codeOwners: true, conversations: true }) },
    checkedPush,
    'a push of the validated merge',
  ],
  'restricted, the App not on the list': [
    { closedToUs: true, reservedForUs: false },
    undefined,
    'add this App (id 42) to the list',
  ],
  "restricted, in a person's repository": [
    { closedToUs: true, reservedForUs: false, owner: 'user' },
    undefined,
    'user-owned repositories cannot add Apps to this list',
  ],
  'restricted, the App on the list for pull requests': [
    { closedToPushes: true },
    mergeByGitHub,
    'cannot push',
  ],
  locked: [{ locked: true }, undefined, 'the branch is locked'],
  'linear history': [
    { linearHistory: true },
    squashByGitHub,
    'a linear history, so it does not accept merge commits',
  ],
  'linear history, squash off': [
    { linearHistory: true, mergeMethods: ['merge', 'rebase'] },
    rebaseByGitHub,
    'linear history',
  ],
  'linear history, merge commits only': [
    { linearHistory: true, mergeMethods: ['merge'] },
    undefined,
    'no merge method works',
  ],
  'linear history, strict, head behind': [
    { linearHistory: true, checks: strictRequiredChecks },
    undefined,
    'behind its base',
  ],
  'linear history, strict, head contains base': [
    { linearHistory: true, checks: strictRequiredChecks },
    squashByGitHub,
    'linear',
    upToDate,
  ],
  'merge commits off': [{ mergeMethods: ['rebase'] }, rebaseByGitHub, 'merge commits are disabled'],
  signatures: [{ signatures: true }, { ...checkedPush, signed: true }, 'GitHub signs the merge'],
  'signatures without checks need a temporary branch': [
    { ...unrestrictedBranchRules, signatures: true, temporaryBranch: ['required_signatures'] },
    mergeByGitHub,
    'blocked by the rule "required_signatures"',
  ],
  'signatures and linear history': [
    { signatures: true, linearHistory: true },
    undefined,
    'require either a linear history or signatures',
  ],
  'signatures and linear history, rebase only': [
    { signatures: true, linearHistory: true, mergeMethods: ['rebase'] },
    undefined,
    'no merge method works',
  ],
  'signatures, merge commits off, rebase only: a doubt is no refusal': [
    { signatures: true, mergeMethods: ['rebase'] },
    { ...checkedPush, signed: true },
    'GitHub signs the merge',
  ],
  'merge queue': [
    { mergeQueue: true },
    { kind: 'queue' },
    'merge queue',
    { permissions: { ...appPermissions, merge_queues: 'read' } },
  ],
  'merge queue that waits for nothing of ours': [
    { ...unrestrictedBranchRules, mergeQueue: true },
    undefined,
    "the merge queue does not wait for this App's checks; require ",
    { permissions: { ...appPermissions, merge_queues: 'read' } },
  ],
  'linear history where merge commits alone are allowed': [
    { linearHistory: true, mergeMethods: ['merge'] },
    undefined,
    'allow squash or rebase merging in the repository',
  ],
  'merge queue, without its permission': [{ mergeQueue: true }, undefined, 'merge_queues: read'],
  workflows: [{ workflows: true }, mergeByGitHub, 'which block every push'],
  'an unknown rule': [
    { others: ['code_scanning'] },
    mergeByGitHub,
    'does not recognize the rule "code_scanning" and cannot predict whether it allows pushes',
  ],
  'no right to write': [
    {},
    undefined,
    'the App lacks the "contents: write" permission, which is required to push',
    { permissions: { ...appPermissions, contents: 'read' } },
  ],
  'no right to report checks': [
    {},
    undefined,
    '"checks: write" permission, which is required to add checks to a merge before the push',
    { permissions: { contents: 'write' } },
  ],
  'no right to report checks, where none are put first': [
    unrestrictedBranchRules,
    directPush,
    'a push of the validated merge',
    { permissions: { contents: 'write' } },
  ],
  'no right to write, where GitHub merges': [
    { linearHistory: true },
    undefined,
    '"contents: write" permission, which is required to merge',
    { permissions: {} },
  ],
  'unknown rights': [{}, checkedPush, 'a push of the validated merge', { permissions: undefined }],
  'workflow files, without that right': [
    {},
    undefined,
    'changes .github/workflows/',
    { pull: { containsBase: true, editsWorkflows: true } },
  ],
  'workflow files, with that right': [
    {},
    directPush,
    'a push of the validated merge',
    {
      pull: { containsBase: true, editsWorkflows: true },
      permissions: { ...appPermissions, workflows: 'write' },
    },
  ],
  'merge.method push where it cannot work': [
    { linearHistory: true },
    undefined,
    'merge.method is push, but GitHub would reject the push because the branch requires a linear history',
    { setting: 'push' },
  ],
  'merge.method push in doubt': [
    { others: ['code_scanning'], mergeMethods: ['squash'] },
    checkedPush,
    'a push of the validated merge',
    { setting: 'push' },
  ],
  'merge.method squash': [
    {},
    squashByGitHub,
    'GitHub merges with the squash method because merge.method is squash',
    { setting: 'squash' },
  ],
  'merge.method rebase, which is off': [
    { mergeMethods: ['merge', 'squash'] },
    undefined,
    'merge.method is rebase, but the repository or a rule does not allow this method',
    { setting: 'rebase' },
  ],
  'merge.method merge under linear history': [
    { linearHistory: true },
    undefined,
    'the branch requires a linear history',
    { setting: 'merge' },
  ],
  'merge.method rebase under signatures': [
    { signatures: true },
    undefined,
    'GitHub does not sign rebased commits',
    { setting: 'rebase' },
  ],
  'merge.method squash under signatures': [
    { signatures: true },
    undefined,
    'only the author of a pull request',
    { setting: 'squash' },
  ],
  'merge.method squash, strict, head behind': [
    { checks: strictRequiredChecks },
    undefined,
    'up to date',
    { setting: 'squash' },
  ],
  'merge.method queue without a queue': [{}, undefined, 'has no merge queue', { setting: 'queue' }],
  'merge.method squash with a queue': [
    { mergeQueue: true },
    undefined,
    'only through its merge queue',
    { setting: 'squash', permissions: { ...appPermissions, merge_queues: 'write' } },
  ],
}

describe('the merge method for a branch', () => {
  test.each(Object.entries(mergeMethodCases))('%s', (_name, [rules, method, expectedText, more]) => {
    const chosen = planMerge(rules, more)
    expect(chosen.method).toEqual(method)
    expect(method === undefined ? chosen.missing.join('\n') : chosen.because).toContain(expectedText)
    if (method === undefined)
      expect(chosen.because).toBe('GitHub would not accept any merge method that catalog-bot can use')
  })

  test.each(Object.entries(mergeMethodCases).filter(([, [, method]]) => method !== undefined))(
    'nothing is missing if there is a method, unless a check must come from another App: %s',
    (name, [rules, , , more]) => {
      expect(planMerge(rules, more).missing).toHaveLength(name === 'our check from another App' ? 1 : 0)
    },
  )
})

describe('a plan', () => {
  test('has no conditions and no recommendations under the two recommended rulesets', () => {
    expect(planMerge({})).toMatchObject({
      missing: [],
      conditions: [],
      faster: [],
      unsure: [],
      needsGitHubsTree: false,
    })
  })

  test.each(['dismissesStale', 'lastPushApproval'] as const)(
    "requires the tree of GitHub's test merge for a push under %s",
    (setting) => {
      const pullRequest = createPullRule({ approvals: 1, [setting]: true })
      const pushed = planMerge({ pullRequest })
      expect(pushed).toMatchObject({ method: checkedPush, needsGitHubsTree: true })
      expect(pushed.conditions.join('\n')).toContain("the same content as GitHub's test merge")
      expect(planMerge({ pullRequest, linearHistory: true }).needsGitHubsTree).toBe(false)
      expect(planMerge({ pullRequest, locked: true }).needsGitHubsTree).toBe(false)
    },
  )

  test('lists the conditions that people must meet', () => {
    const pullRequest = createPullRule({ approvals: 2, codeOwners: true, conversations: true })
    const { conditions } = planMerge({ pullRequest, signatures: true, checks: requiredChecksWithCi })
    const all = conditions.join('\n')
    for (const words of [
      '2 approving reviews',
      'code owners must be approved by a code owner',
      'every conversation',
      'verified signature',
      '"ci"',
    ])
      expect(all).toContain(words)
  })

  test('reports that GitHub may reject a push if merge.method is push and a rule is unrecognized', () => {
    expect(planMerge({ others: ['code_scanning'] }, { setting: 'push' }).unsure).toEqual([
      'catalog-bot does not recognize the rule "code_scanning" and cannot predict whether it allows pushes: GitHub may reject the push',
    ])
  })

  test('for a branch mentions changes to workflow files unless the App may push them', () => {
    expect(planMerge({}, { pull: undefined }).conditions.join('\n')).toContain('.github/workflows/')
    const may = { ...appPermissions, workflows: 'write' }
    expect(planMerge({}, { pull: undefined, permissions: may }).conditions).toEqual([])
  })

  test("reports that the App's permissions are unknown", () => {
    expect(planMerge({}, { permissions: undefined }).unsure).toEqual([
      "catalog-bot could not read the App's permissions",
    ])
  })

  test('with a configured GitHub merge method recommends merge.method auto', () => {
    expect(planMerge({}, { setting: 'merge' }).faster.join()).toContain('set merge.method to auto')
  })
})

/** The rules before and after a change of one field: the plan must change, too. */
const branchRuleVariants: Readonly<
  Record<Exclude<keyof BranchRules, 'branch'>, readonly Partial<BranchRules>[]>
> = {
  owner: [{ reservedForUs: false }, { reservedForUs: false, owner: 'user' }],
  checks: [{}, { checks: requiredChecksWithCi }],
  pullRequest: [{}, { pullRequest: createPullRule() }],
  closedToUs: [{}, { closedToUs: true }],
  closedToPushes: [{}, { closedToPushes: true }],
  reservedForUs: [{}, { reservedForUs: false }],
  locked: [{}, { locked: true }],
  linearHistory: [{}, { linearHistory: true }],
  signatures: [{}, { signatures: true }],
  mergeQueue: [{}, { mergeQueue: true }],
  queue: [{ mergeQueue: true }, { mergeQueue: true, queue: { method: 'squash', largestGroup: 5 } }],
  workflows: [{}, { workflows: true }],
  others: [{}, { others: ['code_scanning'] }],
  mergeMethods: [{}, { mergeMethods: ['squash'] }],
  temporaryBranch: [{}, { temporaryBranch: ['deletion'] }],
  unread: [{}, { unread: ['the classic protection could not be read'] }],
}

describe('every field of the branch rules changes the plan or its text', () => {
  test.each(Object.entries(branchRuleVariants))('%s', (_field, [before = {}, after = {}]) => {
    expect(planMerge(after)).not.toEqual(planMerge(before))
  })

  const requirements = ['dismissesStale', 'lastPushApproval', 'codeOwners', 'conversations'] as const
  test.each(requirements)('pullRequest.%s', (field) => {
    const before = planMerge({ pullRequest: createPullRule() })
    expect(planMerge({ pullRequest: createPullRule({ [field]: true }) })).not.toEqual(before)
  })

  test('pullRequest.approvals, checks.strict, queue.method, queue.largestGroup', () => {
    expect(planMerge({ pullRequest: createPullRule({ approvals: 1 }) })).not.toEqual(
      planMerge({ pullRequest: createPullRule() }),
    )
    expect(planMerge({ checks: strictRequiredChecks })).not.toEqual(planMerge({}))
    const queue = (method: 'merge' | 'rebase', maxGroupSize: number) =>
      planMerge({ mergeQueue: true, queue: { method, largestGroup: maxGroupSize } }).faster
    expect(queue('merge', 1)).toEqual([])
    expect(queue('rebase', 1).join()).toContain('the method of the merge queue to merge instead of rebase')
    expect(queue('merge', 3).join()).toContain('one pull request instead of 3')
  })
})

test('a plan for a branch without rules recommends both rulesets', () => {
  const { faster } = planMerge(unrestrictedBranchRules)
  expect(faster.join('\n')).toContain('ruleset A')
  expect(faster.join('\n')).toContain('ruleset B')
})
