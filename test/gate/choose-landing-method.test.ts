import { describe, expect, test } from '@jest/globals'
import type { BranchRules, PullRequirement } from '../../src/gate/branch-rules.ts'
import { chooseLandingMethod } from '../../src/gate/choose-landing-method.ts'
import type { LandingInput } from '../../src/gate/landing-demands.ts'
import type { LandingMethod, LandingPlan } from '../../src/gate/landing-method.ts'

const app = 42
const ownChecks = ['catalog-bot / ownership', 'catalog-bot / validation']
const own = ownChecks.map((name) => ({ name, app }))
const permissions = { contents: 'write', pull_requests: 'write', checks: 'write', metadata: 'read' }

/** A branch with the two recommended rulesets: nothing is left to wish for. */
const recommended: BranchRules = {
  branch: 'main',
  owner: 'organization',
  checks: { required: own, strict: false },
  closedToUs: false,
  closedToPushes: false,
  reservedForUs: true,
  locked: false,
  linearHistory: false,
  signatures: false,
  mergeQueue: false,
  workflows: false,
  others: [],
  mergeMethods: ['merge', 'squash', 'rebase'],
  temporaryBranch: [],
  unread: [],
}

const open: BranchRules = { ...recommended, checks: { required: [], strict: false }, reservedForUs: false }

const reviews = (more: Partial<PullRequirement> = {}): PullRequirement => ({
  approvals: 0,
  dismissesStale: false,
  lastPushApproval: false,
  codeOwners: false,
  conversations: false,
  ...more,
})

function plan(rules: Partial<BranchRules>, more: Partial<LandingInput> = {}): LandingPlan {
  return chooseLandingMethod({
    rules: { ...recommended, ...rules },
    wanted: 'auto',
    permissions,
    app,
    ownChecks,
    pull: { containsBase: false },
    ...more,
  })
}

const push: LandingMethod = { kind: 'push', checksFirst: true, signed: false }
const plainPush: LandingMethod = { ...push, checksFirst: false }
const byGitHub = (method: 'merge' | 'squash' | 'rebase'): LandingMethod => ({ kind: 'github-merge', method })
const upToDate = { pull: { containsBase: true } }

interface Row {
  readonly rules: Partial<BranchRules>
  readonly more?: Partial<LandingInput>
  /** Undefined: nothing would be taken. */
  readonly method: LandingMethod | undefined
  /** Words of `missing`, or of `because` where there is a method. */
  readonly says: string
}

const ci = { required: [...own, { name: 'ci' }], strict: false }
const strict = { required: own, strict: true }

/** The settings of a branch, as GitHub names them, and what follows. */
const rows: Readonly<Record<string, Row>> = {
  'no rule at all': { rules: open, method: plainPush, says: 'the branch takes the very merge' },
  'our checks, head behind': { rules: {}, method: push, says: 'put on that merge first' },
  'our checks, head contains base': { rules: {}, more: upToDate, method: plainPush, says: 'the very merge' },
  'our checks, by name alone': {
    rules: { checks: { required: [{ name: ownChecks[0]! }], strict: false } },
    method: push,
    says: 'put on that merge first',
  },
  'our checks, strict, head behind': { rules: { checks: strict }, method: push, says: 'put on that merge' },
  'our checks, no place for a temporary branch': {
    rules: { temporaryBranch: ['creation'] },
    method: byGitHub('merge'),
    says: 'a temporary branch for the merge is refused by the rule creation',
  },
  'no place for a temporary branch, head contains base': {
    rules: { temporaryBranch: ['creation'] },
    more: upToDate,
    method: plainPush,
    says: 'the very merge',
  },
  'no place for a temporary branch, and none needed': {
    rules: { ...open, temporaryBranch: ['creation'] },
    method: plainPush,
    says: 'the very merge',
  },
  'a check of others, head behind': {
    rules: { checks: ci },
    method: byGitHub('merge'),
    says: 'the branch requires the check "ci", and nobody reports that on a merge',
  },
  'a check of others, head contains base': {
    rules: { checks: ci },
    more: upToDate,
    method: plainPush,
    says: 'the very merge',
  },
  'a check of others, strict, head behind': {
    rules: { checks: { ...ci, strict: true } },
    method: undefined,
    says: 'demands that it is up to date: update it, or switch that demand off',
  },
  'a check of others, strict, any pull request': {
    rules: { checks: { ...ci, strict: true } },
    more: { pull: undefined },
    method: byGitHub('merge'),
    says: '"ci"',
  },
  'strict without a check has no effect': {
    rules: { ...open, checks: { required: [], strict: true }, linearHistory: true },
    method: byGitHub('squash'),
    says: 'linear history',
  },
  'our check from another App': {
    rules: { checks: { required: [{ name: ownChecks[0]!, app: 7 }], strict: false } },
    method: byGitHub('merge'),
    says: `"${ownChecks[0]}" of App 7`,
  },
  'a check of ours that we do not report': {
    rules: { checks: { required: [{ name: 'catalog-bot / install', app }], strict: false } },
    method: undefined,
    says: 'which reports no such check: require "catalog-bot / ownership" and "catalog-bot / validation" instead',
  },
  'a pull request without approval': { rules: { pullRequest: reviews() }, method: push, says: 'very merge' },
  'a pull request with approvals': {
    rules: { pullRequest: reviews({ approvals: 2, codeOwners: true, conversations: true }) },
    method: push,
    says: 'very merge',
  },
  'restricted, the App not on the list': {
    rules: { closedToUs: true, reservedForUs: false },
    method: undefined,
    says: 'put this App (id 42) on it',
  },
  "restricted, in a person's repository": {
    rules: { closedToUs: true, reservedForUs: false, owner: 'user' },
    method: undefined,
    says: "in a person's repository no App can be on it",
  },
  'restricted, the App on the list for pull requests': {
    rules: { closedToPushes: true },
    method: byGitHub('merge'),
    says: 'may not push',
  },
  locked: { rules: { locked: true }, method: undefined, says: 'the branch is locked' },
  'linear history': {
    rules: { linearHistory: true },
    method: byGitHub('squash'),
    says: 'a linear history, so it takes no merge commit',
  },
  'linear history, squash off': {
    rules: { linearHistory: true, mergeMethods: ['merge', 'rebase'] },
    method: byGitHub('rebase'),
    says: 'linear history',
  },
  'linear history, merge commits only': {
    rules: { linearHistory: true, mergeMethods: ['merge'] },
    method: undefined,
    says: 'no way to merge is left',
  },
  'linear history, strict, head behind': {
    rules: { linearHistory: true, checks: strict },
    method: undefined,
    says: 'behind its base',
  },
  'linear history, strict, head contains base': {
    rules: { linearHistory: true, checks: strict },
    more: upToDate,
    method: byGitHub('squash'),
    says: 'linear',
  },
  'merge commits off': {
    rules: { mergeMethods: ['rebase'] },
    method: byGitHub('rebase'),
    says: 'merge commits are switched off',
  },
  signatures: {
    rules: { signatures: true },
    method: { ...push, signed: true },
    says: 'GitHub signs it',
  },
  'signatures without checks need a temporary branch': {
    rules: { ...open, signatures: true, temporaryBranch: ['required_signatures'] },
    method: byGitHub('merge'),
    says: 'refused by the rule required_signatures',
  },
  'signatures and linear history': {
    rules: { signatures: true, linearHistory: true },
    method: undefined,
    says: 'do not require both',
  },
  'signatures and linear history, rebase only': {
    rules: { signatures: true, linearHistory: true, mergeMethods: ['rebase'] },
    method: undefined,
    says: 'no way to merge is left',
  },
  'signatures, merge commits off, rebase only: a doubt is no refusal': {
    rules: { signatures: true, mergeMethods: ['rebase'] },
    method: { ...push, signed: true },
    says: 'GitHub signs it',
  },
  'merge queue': {
    rules: { mergeQueue: true },
    more: { permissions: { ...permissions, merge_queues: 'read' } },
    method: { kind: 'queue' },
    says: 'merge queue',
  },
  'merge queue that waits for nothing of ours': {
    rules: { ...open, mergeQueue: true },
    more: { permissions: { ...permissions, merge_queues: 'read' } },
    method: undefined,
    says: "the merge queue does not wait for this App's checks: require ",
  },
  'linear history where merge commits alone are allowed': {
    rules: { linearHistory: true, mergeMethods: ['merge'] },
    method: undefined,
    says: 'allow squash or rebase merging in the repository',
  },
  'merge queue, without its permission': {
    rules: { mergeQueue: true },
    method: undefined,
    says: 'merge_queues: read',
  },
  workflows: { rules: { workflows: true }, method: byGitHub('merge'), says: 'which block every push' },
  'a rule that nobody knows': {
    rules: { others: ['code_scanning'] },
    method: byGitHub('merge'),
    says: 'nobody knows what the rule code_scanning does to a push',
  },
  'no right to write': {
    rules: {},
    more: { permissions: { ...permissions, contents: 'read' } },
    method: undefined,
    says: 'the App lacks the permission contents: write to push',
  },
  'no right to report checks': {
    rules: {},
    more: { permissions: { contents: 'write' } },
    method: undefined,
    says: 'checks: write to put its checks on a merge before it is pushed',
  },
  'no right to report checks, where none are put first': {
    rules: open,
    more: { permissions: { contents: 'write' } },
    method: plainPush,
    says: 'very merge',
  },
  'no right to write, where GitHub merges': {
    rules: { linearHistory: true },
    more: { permissions: {} },
    method: undefined,
    says: 'contents: write to merge',
  },
  'unknown rights': { rules: {}, more: { permissions: undefined }, method: push, says: 'very merge' },
  'workflow files, without that right': {
    rules: {},
    more: { pull: { containsBase: true, editsWorkflows: true } },
    method: undefined,
    says: 'changes .github/workflows/',
  },
  'workflow files, with that right': {
    rules: {},
    more: {
      pull: { containsBase: true, editsWorkflows: true },
      permissions: { ...permissions, workflows: 'write' },
    },
    method: plainPush,
    says: 'very merge',
  },
  'merge.method push where it cannot work': {
    rules: { linearHistory: true },
    more: { wanted: 'push' },
    method: undefined,
    says: 'merge.method is push, and it would be refused: the branch demands a linear history',
  },
  'merge.method push in doubt': {
    rules: { others: ['code_scanning'], mergeMethods: ['squash'] },
    more: { wanted: 'push' },
    method: push,
    says: 'very merge',
  },
  'merge.method squash': {
    rules: {},
    more: { wanted: 'squash' },
    method: byGitHub('squash'),
    says: 'says so',
  },
  'merge.method rebase, which is off': {
    rules: { mergeMethods: ['merge', 'squash'] },
    more: { wanted: 'rebase' },
    method: undefined,
    says: 'merge.method is rebase, and the repository or a rule does not allow it',
  },
  'merge.method merge under linear history': {
    rules: { linearHistory: true },
    more: { wanted: 'merge' },
    method: undefined,
    says: 'the branch demands a linear history',
  },
  'merge.method rebase under signatures': {
    rules: { signatures: true },
    more: { wanted: 'rebase' },
    method: undefined,
    says: 'GitHub does not sign what it rebases',
  },
  'merge.method squash under signatures': {
    rules: { signatures: true },
    more: { wanted: 'squash' },
    method: undefined,
    says: 'only the author of a pull request',
  },
  'merge.method squash, strict, head behind': {
    rules: { checks: strict },
    more: { wanted: 'squash' },
    method: undefined,
    says: 'up to date',
  },
  'merge.method queue without a queue': {
    rules: {},
    more: { wanted: 'queue' },
    method: undefined,
    says: 'has no merge queue',
  },
  'merge.method squash with a queue': {
    rules: { mergeQueue: true },
    more: { wanted: 'squash', permissions: { ...permissions, merge_queues: 'write' } },
    method: undefined,
    says: 'through its merge queue alone',
  },
}

describe('the way onto a branch', () => {
  test.each(Object.entries(rows))('%s', (_name, { rules, more, method, says }) => {
    const chosen = plan(rules, more)
    expect(chosen.method).toEqual(method)
    expect(method === undefined ? chosen.missing.join('\n') : chosen.because).toContain(says)
    if (method === undefined) expect(chosen.because).toBe('GitHub would take nothing that the App can do')
  })

  test.each(Object.entries(rows).filter(([, row]) => row.method !== undefined))(
    'nothing is missing where there is one, unless a check counts from another App: %s',
    (name, { rules, more }) => {
      expect(plan(rules, more).missing).toHaveLength(name === 'our check from another App' ? 1 : 0)
    },
  )
})

describe('a plan', () => {
  test('has nothing to add under the two recommended rulesets', () => {
    expect(plan({})).toMatchObject({
      missing: [],
      conditions: [],
      faster: [],
      unsure: [],
      needsGitHubsTree: false,
    })
  })

  test.each(['dismissesStale', 'lastPushApproval'] as const)(
    'needs the tree of GitHub under %s',
    (setting) => {
      const pullRequest = reviews({ approvals: 1, [setting]: true })
      const pushed = plan({ pullRequest })
      expect(pushed).toMatchObject({ method: push, needsGitHubsTree: true })
      expect(pushed.conditions.join('\n')).toContain("the content of GitHub's own merge")
      expect(plan({ pullRequest, linearHistory: true }).needsGitHubsTree).toBe(false)
      expect(plan({ pullRequest, locked: true }).needsGitHubsTree).toBe(false)
    },
  )

  test('tells what people must do', () => {
    const pullRequest = reviews({ approvals: 2, codeOwners: true, conversations: true })
    const { conditions } = plan({ pullRequest, signatures: true, checks: ci })
    const all = conditions.join('\n')
    for (const words of [
      '2 approving reviews',
      'a code owner',
      'every conversation',
      'verified signature',
      '"ci"',
    ])
      expect(all).toContain(words)
  })

  test('names a push as something that may be refused where it was asked for in doubt', () => {
    expect(plan({ others: ['code_scanning'] }, { wanted: 'push' }).unsure).toEqual([
      'nobody knows what the rule code_scanning does to a push: GitHub may refuse the push',
    ])
  })

  test('about a branch says what becomes of workflow files', () => {
    expect(plan({}, { pull: undefined }).conditions.join('\n')).toContain('.github/workflows/')
    const may = { ...permissions, workflows: 'write' }
    expect(plan({}, { pull: undefined, permissions: may }).conditions).toEqual([])
  })

  test('tells that its own rights are unknown', () => {
    expect(plan({}, { permissions: undefined }).unsure).toEqual([
      "the App's own permissions could not be read",
    ])
  })

  test('of a chosen method of GitHub points to auto', () => {
    expect(plan({}, { wanted: 'merge' }).faster.join()).toContain('set merge.method to auto')
  })
})

/** One that differs in one field from a branch that `from` describes: the plan must tell the difference. */
const differences: Readonly<Record<Exclude<keyof BranchRules, 'branch'>, readonly Partial<BranchRules>[]>> = {
  owner: [{ reservedForUs: false }, { reservedForUs: false, owner: 'user' }],
  checks: [{}, { checks: ci }],
  pullRequest: [{}, { pullRequest: reviews() }],
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

describe('every fact about a branch changes the plan or its words', () => {
  test.each(Object.entries(differences))('%s', (_field, [before = {}, after = {}]) => {
    expect(plan(after)).not.toEqual(plan(before))
  })

  const demands = ['dismissesStale', 'lastPushApproval', 'codeOwners', 'conversations'] as const
  test.each(demands)('pullRequest.%s', (field) => {
    const before = plan({ pullRequest: reviews() })
    expect(plan({ pullRequest: reviews({ [field]: true }) })).not.toEqual(before)
  })

  test('pullRequest.approvals, checks.strict, queue.method, queue.largestGroup', () => {
    expect(plan({ pullRequest: reviews({ approvals: 1 }) })).not.toEqual(plan({ pullRequest: reviews() }))
    expect(plan({ checks: strict })).not.toEqual(plan({}))
    const queue = (method: 'merge' | 'rebase', largestGroup: number) =>
      plan({ mergeQueue: true, queue: { method, largestGroup } }).faster
    expect(queue('merge', 1)).toEqual([])
    expect(queue('rebase', 1).join()).toContain('merge commits, not rebase')
    expect(queue('merge', 3).join()).toContain('groups of one, not of 3')
  })
})

test('who made the branch as recommended is told nothing more, and who did not is told how', () => {
  const { faster } = plan(open)
  expect(faster.join('\n')).toContain('ruleset A')
  expect(faster.join('\n')).toContain('ruleset B')
})
