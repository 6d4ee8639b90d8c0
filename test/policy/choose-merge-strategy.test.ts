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

const createPullRequestRuleSettings = (
  more: Partial<PullRequestRuleSettings> = {},
): PullRequestRuleSettings => ({
  approvals: 0,
  dismissesStale: false,
  lastPushApproval: false,
  codeOwners: false,
  conversations: false,
  ...more,
})

function planMergeWithRules(rules: Partial<BranchRules>, more: Partial<MergePlanInput> = {}): MergePlan {
  return chooseMergeStrategy({
    rules: { ...recommendedBranchRules, ...rules },
    wanted: 'auto',
    permissions: appPermissions,
    app: appId,
    ownChecks: botCheckNames,
    pull: { containsBase: false },
    ...more,
  })
}

const pushAfterChecksStrategy: MergeStrategy = { kind: 'push', checksFirst: true, signed: false }
const directPushStrategy: MergeStrategy = { ...pushAfterChecksStrategy, checksFirst: false }
const createGitHubMergeStrategy = (method: 'merge' | 'squash' | 'rebase'): MergeStrategy => ({
  kind: 'github-merge',
  method,
})
const upToDatePullMergeInput = { pull: { containsBase: true } }

interface MergeMethodCase {
  readonly rules: Partial<BranchRules>
  readonly more?: Partial<MergePlanInput>
  /** Undefined: GitHub would not accept any method. */
  readonly method: MergeStrategy | undefined
  /** Contained in `missing`, or in `because` if there is a method. */
  readonly expectedText: string
}

const requiredChecksWithCi = { required: [...requiredBotChecks, { name: 'ci' }], strict: false }
const strictRequiredChecks = { required: requiredBotChecks, strict: true }

/** The settings of a branch, as GitHub names them, and the expected plan. */
const mergeMethodCases: Readonly<Record<string, MergeMethodCase>> = {
  'no rule at all': {
    rules: unrestrictedBranchRules,
    method: directPushStrategy,
    expectedText: 'the branch accepts a push of the validated merge',
  },
  'our checks, head behind': {
    rules: {},
    method: pushAfterChecksStrategy,
    expectedText: 'adds the required checks to the validated merge before the push',
  },
  'our checks, head contains base': {
    rules: {},
    more: upToDatePullMergeInput,
    method: directPushStrategy,
    expectedText: 'a push of the validated merge',
  },
  'our checks, by name alone': {
    rules: { checks: { required: [{ name: botCheckNames[0]! }], strict: false } },
    method: pushAfterChecksStrategy,
    expectedText: 'adds the required checks to the validated merge before the push',
  },
  'our checks, strict, head behind': {
    rules: { checks: strictRequiredChecks },
    method: pushAfterChecksStrategy,
    expectedText: 'adds the required checks to the validated merge',
  },
  'our checks, no place for a temporary branch': {
    rules: { temporaryBranch: ['creation'] },
    method: createGitHubMergeStrategy('merge'),
    expectedText: 'a temporary branch for the merge is blocked by the rule "creation"',
  },
  'no place for a temporary branch, head contains base': {
    rules: { temporaryBranch: ['creation'] },
    more: upToDatePullMergeInput,
    method: directPushStrategy,
    expectedText: 'a push of the validated merge',
  },
  'no place for a temporary branch, and none needed': {
    rules: { ...unrestrictedBranchRules, temporaryBranch: ['creation'] },
    method: directPushStrategy,
    expectedText: 'a push of the validated merge',
  },
  'a check of others, head behind': {
    rules: { checks: requiredChecksWithCi },
    method: createGitHubMergeStrategy('merge'),
    expectedText:
      'the branch requires the check "ci" to pass before the push, but other apps report only on the heads',
  },
  'a check of others, head contains base': {
    rules: { checks: requiredChecksWithCi },
    more: upToDatePullMergeInput,
    method: directPushStrategy,
    expectedText: 'a push of the validated merge',
  },
  'a check of others, strict, head behind': {
    rules: { checks: { ...requiredChecksWithCi, strict: true } },
    method: undefined,
    expectedText:
      'requires the head to be up to date, and this head is behind its base; update the pull request, or turn off that requirement',
  },
  'a check of others, strict, any pull request': {
    rules: { checks: { ...requiredChecksWithCi, strict: true } },
    more: { pull: undefined },
    method: createGitHubMergeStrategy('merge'),
    expectedText: '"ci"',
  },
  'strict without a check has no effect': {
    rules: { ...unrestrictedBranchRules, checks: { required: [], strict: true }, linearHistory: true },
    method: createGitHubMergeStrategy('squash'),
    expectedText: 'linear history',
  },
  'our check from another App': {
    rules: { checks: { required: [{ name: botCheckNames[0]!, app: 7 }], strict: false } },
    method: createGitHubMergeStrategy('merge'),
    expectedText: `"${botCheckNames[0]}" from App 7`,
  },
  'a check of ours that we do not report': {
    rules: { checks: { required: [{ name: 'catalog-bot / install', app: appId }], strict: false } },
    method: undefined,
    expectedText:
      'which does not report that check; require "catalog-bot / ownership" and "catalog-bot / validation" instead',
  },
  'a pull request without approval': {
    rules: { pullRequest: createPullRequestRuleSettings() },
    method: pushAfterChecksStrategy,
    expectedText: 'a push of the validated merge',
  },
  'a pull request with approvals': {
    rules: {
      pullRequest: createPullRequestRuleSettings({ approvals: 2, codeOwners: true, conversations: true }),
    },
    method: pushAfterChecksStrategy,
    expectedText: 'a push of the validated merge',
  },
  'restricted, the App not on the list': {
    rules: { closedToUs: true, reservedForUs: false },
    method: undefined,
    expectedText: 'add this App (id 42) to the list',
  },
  "restricted, in a person's repository": {
    rules: { closedToUs: true, reservedForUs: false, owner: 'user' },
    method: undefined,
    expectedText: 'user-owned repositories cannot add Apps to this list',
  },
  'restricted, the App on the list for pull requests': {
    rules: { closedToPushes: true },
    method: createGitHubMergeStrategy('merge'),
    expectedText: 'cannot push',
  },
  locked: { rules: { locked: true }, method: undefined, expectedText: 'the branch is locked' },
  'linear history': {
    rules: { linearHistory: true },
    method: createGitHubMergeStrategy('squash'),
    expectedText: 'a linear history, so it does not accept merge commits',
  },
  'linear history, squash off': {
    rules: { linearHistory: true, mergeMethods: ['merge', 'rebase'] },
    method: createGitHubMergeStrategy('rebase'),
    expectedText: 'linear history',
  },
  'linear history, merge commits only': {
    rules: { linearHistory: true, mergeMethods: ['merge'] },
    method: undefined,
    expectedText: 'no merge method works',
  },
  'linear history, strict, head behind': {
    rules: { linearHistory: true, checks: strictRequiredChecks },
    method: undefined,
    expectedText: 'behind its base',
  },
  'linear history, strict, head contains base': {
    rules: { linearHistory: true, checks: strictRequiredChecks },
    more: upToDatePullMergeInput,
    method: createGitHubMergeStrategy('squash'),
    expectedText: 'linear',
  },
  'merge commits off': {
    rules: { mergeMethods: ['rebase'] },
    method: createGitHubMergeStrategy('rebase'),
    expectedText: 'merge commits are disabled',
  },
  signatures: {
    rules: { signatures: true },
    method: { ...pushAfterChecksStrategy, signed: true },
    expectedText: 'GitHub signs the merge',
  },
  'signatures without checks need a temporary branch': {
    rules: { ...unrestrictedBranchRules, signatures: true, temporaryBranch: ['required_signatures'] },
    method: createGitHubMergeStrategy('merge'),
    expectedText: 'blocked by the rule "required_signatures"',
  },
  'signatures and linear history': {
    rules: { signatures: true, linearHistory: true },
    method: undefined,
    expectedText: 'require either a linear history or signatures',
  },
  'signatures and linear history, rebase only': {
    rules: { signatures: true, linearHistory: true, mergeMethods: ['rebase'] },
    method: undefined,
    expectedText: 'no merge method works',
  },
  'signatures, merge commits off, rebase only: a doubt is no refusal': {
    rules: { signatures: true, mergeMethods: ['rebase'] },
    method: { ...pushAfterChecksStrategy, signed: true },
    expectedText: 'GitHub signs the merge',
  },
  'merge queue': {
    rules: { mergeQueue: true },
    more: { permissions: { ...appPermissions, merge_queues: 'read' } },
    method: { kind: 'queue' },
    expectedText: 'merge queue',
  },
  'merge queue that waits for nothing of ours': {
    rules: { ...unrestrictedBranchRules, mergeQueue: true },
    more: { permissions: { ...appPermissions, merge_queues: 'read' } },
    method: undefined,
    expectedText: "the merge queue does not wait for this App's checks; require ",
  },
  'linear history where merge commits alone are allowed': {
    rules: { linearHistory: true, mergeMethods: ['merge'] },
    method: undefined,
    expectedText: 'allow squash or rebase merging in the repository',
  },
  'merge queue, without its permission': {
    rules: { mergeQueue: true },
    method: undefined,
    expectedText: 'merge_queues: read',
  },
  workflows: {
    rules: { workflows: true },
    method: createGitHubMergeStrategy('merge'),
    expectedText: 'which block every push',
  },
  'a rule that nobody knows': {
    rules: { others: ['code_scanning'] },
    method: createGitHubMergeStrategy('merge'),
    expectedText: 'does not recognize the rule "code_scanning" and cannot predict whether it allows pushes',
  },
  'no right to write': {
    rules: {},
    more: { permissions: { ...appPermissions, contents: 'read' } },
    method: undefined,
    expectedText: 'the App lacks the "contents: write" permission, which is required to push',
  },
  'no right to report checks': {
    rules: {},
    more: { permissions: { contents: 'write' } },
    method: undefined,
    expectedText: '"checks: write" permission, which is required to add checks to a merge before the push',
  },
  'no right to report checks, where none are put first': {
    rules: unrestrictedBranchRules,
    more: { permissions: { contents: 'write' } },
    method: directPushStrategy,
    expectedText: 'a push of the validated merge',
  },
  'no right to write, where GitHub merges': {
    rules: { linearHistory: true },
    more: { permissions: {} },
    method: undefined,
    expectedText: '"contents: write" permission, which is required to merge',
  },
  'unknown rights': {
    rules: {},
    more: { permissions: undefined },
    method: pushAfterChecksStrategy,
    expectedText: 'a push of the validated merge',
  },
  'workflow files, without that right': {
    rules: {},
    more: { pull: { containsBase: true, editsWorkflows: true } },
    method: undefined,
    expectedText: 'changes .github/workflows/',
  },
  'workflow files, with that right': {
    rules: {},
    more: {
      pull: { containsBase: true, editsWorkflows: true },
      permissions: { ...appPermissions, workflows: 'write' },
    },
    method: directPushStrategy,
    expectedText: 'a push of the validated merge',
  },
  'merge.method push where it cannot work': {
    rules: { linearHistory: true },
    more: { wanted: 'push' },
    method: undefined,
    expectedText:
      'merge.method is push, but GitHub would reject the push because the branch requires a linear history',
  },
  'merge.method push in doubt': {
    rules: { others: ['code_scanning'], mergeMethods: ['squash'] },
    more: { wanted: 'push' },
    method: pushAfterChecksStrategy,
    expectedText: 'a push of the validated merge',
  },
  'merge.method squash': {
    rules: {},
    more: { wanted: 'squash' },
    method: createGitHubMergeStrategy('squash'),
    expectedText: 'GitHub merges with the squash method because merge.method is squash',
  },
  'merge.method rebase, which is off': {
    rules: { mergeMethods: ['merge', 'squash'] },
    more: { wanted: 'rebase' },
    method: undefined,
    expectedText: 'merge.method is rebase, but the repository or a rule does not allow this method',
  },
  'merge.method merge under linear history': {
    rules: { linearHistory: true },
    more: { wanted: 'merge' },
    method: undefined,
    expectedText: 'the branch requires a linear history',
  },
  'merge.method rebase under signatures': {
    rules: { signatures: true },
    more: { wanted: 'rebase' },
    method: undefined,
    expectedText: 'GitHub does not sign rebased commits',
  },
  'merge.method squash under signatures': {
    rules: { signatures: true },
    more: { wanted: 'squash' },
    method: undefined,
    expectedText: 'only the author of a pull request',
  },
  'merge.method squash, strict, head behind': {
    rules: { checks: strictRequiredChecks },
    more: { wanted: 'squash' },
    method: undefined,
    expectedText: 'up to date',
  },
  'merge.method queue without a queue': {
    rules: {},
    more: { wanted: 'queue' },
    method: undefined,
    expectedText: 'has no merge queue',
  },
  'merge.method squash with a queue': {
    rules: { mergeQueue: true },
    more: { wanted: 'squash', permissions: { ...appPermissions, merge_queues: 'write' } },
    method: undefined,
    expectedText: 'only through its merge queue',
  },
}

describe('the merge method for a branch', () => {
  test.each(Object.entries(mergeMethodCases))('%s', (_name, { rules, more, method, expectedText }) => {
    const chosen = planMergeWithRules(rules, more)
    expect(chosen.method).toEqual(method)
    expect(method === undefined ? chosen.missing.join('\n') : chosen.because).toContain(expectedText)
    if (method === undefined)
      expect(chosen.because).toBe('GitHub would not accept any merge method that catalog-bot can use')
  })

  test.each(Object.entries(mergeMethodCases).filter(([, row]) => row.method !== undefined))(
    'nothing is missing if there is a method, unless a check must come from another App: %s',
    (name, { rules, more }) => {
      expect(planMergeWithRules(rules, more).missing).toHaveLength(
        name === 'our check from another App' ? 1 : 0,
      )
    },
  )
})

describe('a plan', () => {
  test('has no conditions and no recommendations under the two recommended rulesets', () => {
    expect(planMergeWithRules({})).toMatchObject({
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
      const pullRequest = createPullRequestRuleSettings({ approvals: 1, [setting]: true })
      const pushed = planMergeWithRules({ pullRequest })
      expect(pushed).toMatchObject({ method: pushAfterChecksStrategy, needsGitHubsTree: true })
      expect(pushed.conditions.join('\n')).toContain("the same content as GitHub's test merge")
      expect(planMergeWithRules({ pullRequest, linearHistory: true }).needsGitHubsTree).toBe(false)
      expect(planMergeWithRules({ pullRequest, locked: true }).needsGitHubsTree).toBe(false)
    },
  )

  test('lists the conditions that people must meet', () => {
    const pullRequest = createPullRequestRuleSettings({ approvals: 2, codeOwners: true, conversations: true })
    const { conditions } = planMergeWithRules({ pullRequest, signatures: true, checks: requiredChecksWithCi })
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
    expect(planMergeWithRules({ others: ['code_scanning'] }, { wanted: 'push' }).unsure).toEqual([
      'catalog-bot does not recognize the rule "code_scanning" and cannot predict whether it allows pushes: GitHub may reject the push',
    ])
  })

  test('for a branch mentions changes to workflow files unless the App may push them', () => {
    expect(planMergeWithRules({}, { pull: undefined }).conditions.join('\n')).toContain('.github/workflows/')
    const may = { ...appPermissions, workflows: 'write' }
    expect(planMergeWithRules({}, { pull: undefined, permissions: may }).conditions).toEqual([])
  })

  test("reports that the App's permissions are unknown", () => {
    expect(planMergeWithRules({}, { permissions: undefined }).unsure).toEqual([
      "catalog-bot could not read the App's permissions",
    ])
  })

  test('with a configured GitHub merge method recommends merge.method auto', () => {
    expect(planMergeWithRules({}, { wanted: 'merge' }).faster.join()).toContain('set merge.method to auto')
  })
})

/** The rules before and after a change of one field: the plan must change, too. */
const branchRuleVariants: Readonly<
  Record<Exclude<keyof BranchRules, 'branch'>, readonly Partial<BranchRules>[]>
> = {
  owner: [{ reservedForUs: false }, { reservedForUs: false, owner: 'user' }],
  checks: [{}, { checks: requiredChecksWithCi }],
  pullRequest: [{}, { pullRequest: createPullRequestRuleSettings() }],
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
    expect(planMergeWithRules(after)).not.toEqual(planMergeWithRules(before))
  })

  const requirements = ['dismissesStale', 'lastPushApproval', 'codeOwners', 'conversations'] as const
  test.each(requirements)('pullRequest.%s', (field) => {
    const before = planMergeWithRules({ pullRequest: createPullRequestRuleSettings() })
    expect(planMergeWithRules({ pullRequest: createPullRequestRuleSettings({ [field]: true }) })).not.toEqual(
      before,
    )
  })

  test('pullRequest.approvals, checks.strict, queue.method, queue.largestGroup', () => {
    expect(planMergeWithRules({ pullRequest: createPullRequestRuleSettings({ approvals: 1 }) })).not.toEqual(
      planMergeWithRules({ pullRequest: createPullRequestRuleSettings() }),
    )
    expect(planMergeWithRules({ checks: strictRequiredChecks })).not.toEqual(planMergeWithRules({}))
    const queue = (method: 'merge' | 'rebase', maxGroupSize: number) =>
      planMergeWithRules({ mergeQueue: true, queue: { method, largestGroup: maxGroupSize } }).faster
    expect(queue('merge', 1)).toEqual([])
    expect(queue('rebase', 1).join()).toContain('the method of the merge queue to merge instead of rebase')
    expect(queue('merge', 3).join()).toContain('one pull request instead of 3')
  })
})

test('a plan for a branch without rules recommends both rulesets', () => {
  const { faster } = planMergeWithRules(unrestrictedBranchRules)
  expect(faster.join('\n')).toContain('ruleset A')
  expect(faster.join('\n')).toContain('ruleset B')
})
