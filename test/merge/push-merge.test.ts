import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { parseTemporaryBranchName, formatTemporaryBranchName } from '../../src/policy/merge-strategy.ts'
import { recordStagedCommit, removeLeftoverStagingBranches } from '../../src/merge/push-merge.ts'
import { toCommitSha, toPullNumber } from '../../src/pull-request/ids.ts'
import { addCheckRunDigest } from '../../src/jobs/publish-report.ts'
import {
  createStatusChecksRule,
  createPullRequestRule,
} from '../sandbox/github/branch-rules/merge-rules-fixture.ts'
import {
  MergeFixture,
  passingCheckRuns,
  botCheckNames,
  directPushStrategy,
  type MergeScenario,
} from './merge-fixture.ts'
import { mergePull } from './merge-harness.ts'

let scenario: MergeScenario
const mergeFixture = await MergeFixture.open()
afterAll(async () => mergeFixture.stop())
beforeEach(async () => {
  scenario = await mergeFixture.openScenario()
})
afterEach(async () => {
  await scenario.close()
  expect(mergeFixture.githubFixture.github.violations.splice(0)).toEqual([])
  scenario.github.clearFaults()
  scenario.github.delayChecks(0)
})

const pushAfterChecksStrategy = { kind: 'push', checksFirst: true, signed: false } as const
const signedPushStrategy = { kind: 'push', checksFirst: false, signed: true } as const
const signedPushAfterChecksStrategy = { kind: 'push', checksFirst: true, signed: true } as const
const requireBotChecks = () => {
  scenario.setRules([
    createStatusChecksRule(
      botCheckNames.map((context) => ({ context, integration_id: mergeFixture.githubFixture.app.id })),
    ),
  ])
}
const listPushRequests = () =>
  scenario.github.requests.filter(
    ({ method, path }) => method === 'POST' && path.endsWith(`${scenario.full}.git/git-receive-pack`),
  )
const failedInstallCheck = addCheckRunDigest({
  name: 'catalog-bot / install',
  status: 'completed',
  conclusion: 'failure',
  title: '1 error; not required to merge',
  summary: 'it does not install',
  annotations: [],
})
const listGitHubRequestsSince = (count: number) =>
  scenario.github.requests.slice(count).map(({ method, path }) => `${method} ${path}`)

describe('a push of the validated merge', () => {
  test('merges with a single API request on a branch without rules', async () => {
    const { permit, evaluated } = await scenario.evaluate()
    const before = scenario.github.requests.length
    const plan = async () => ({ plan: { method: directPushStrategy } })
    const outcome = await mergePull(evaluated, permit, { ...scenario.options, plan })
    expect(outcome).toEqual({ kind: 'landed', commit: permit.merge.commit })
    expect(scenario.tip()).toBe(permit.merge.commit)
    const rest = listGitHubRequestsSince(before).filter((request) => !request.includes('.git/'))
    // The recheck before the merge. The push itself verifies the base.
    expect(rest).toEqual(['POST /graphql'])
    expect(
      scenario.github.requests.slice(before).filter(({ operation }) => operation !== undefined),
    ).toMatchObject([{ operation: 'StillAs', writes: 0 }])
  })

  test('is rejected without its checks if the branch requires them, and the base does not move', async () => {
    requireBotChecks()
    const before = scenario.tip()
    expect(await scenario.merge(directPushStrategy)).toMatchObject({
      kind: 'refused',
      rejection: {
        scope: 'pull',
        reason: expect.stringContaining('2 of 2 required status checks are expected.'),
      },
    })
    expect(scenario.tip()).toBe(before)
    expect(scenario.intents.map(({ outcome }) => outcome)).toEqual(['abandoned'])
  })
})

describe('a push without checks to a branch that requires them on the merge commit', () => {
  const rulesWith = (...names: string[]) =>
    ({ checks: { required: names.map((name) => ({ name })), strict: false } }) as never

  test('is retried with the checks, and leaves no temporary branch', async () => {
    requireBotChecks()
    const { permit } = await scenario.evaluate()
    expect(await scenario.merge(directPushStrategy, { rules: rulesWith(...botCheckNames) })).toEqual({
      kind: 'landed',
      commit: permit.merge.commit,
    })
    expect(scenario.intents.map(({ outcome, method }) => [outcome, method])).toEqual([
      ['abandoned', directPushStrategy],
      ['landed', pushAfterChecksStrategy],
    ])
    expect(scenario.otherBranches()).toEqual([])
  })

  test('is not retried if another app must report a required check', async () => {
    requireBotChecks()
    expect(
      await scenario.merge(directPushStrategy, { rules: rulesWith(...botCheckNames, 'ci') }),
    ).toMatchObject({ kind: 'refused' })
    expect(scenario.intents).toHaveLength(1)
  })
})

describe('a push with checks first', () => {
  test('adds our checks to the merge commit, merges it, and leaves no temporary branch', async () => {
    requireBotChecks()
    const { permit } = await scenario.evaluate()
    expect(await scenario.merge(pushAfterChecksStrategy)).toEqual({
      kind: 'landed',
      commit: permit.merge.commit,
    })
    expect(scenario.tip()).toBe(permit.merge.commit)
    expect(scenario.otherBranches()).toEqual([])
    expect(scenario.pull.merged?.sha).toBe(permit.merge.commit)
    const runs = scenario.github.checkRuns({ repo: scenario.pull.repo, headSha: permit.merge.commit })
    expect(runs.map(({ name, conclusion }) => [name, conclusion])).toEqual(
      botCheckNames.map((name) => [name, 'success']),
    )
  })

  test('waits until GitHub recognizes the checks', async () => {
    requireBotChecks()
    scenario.github.delayChecks(3000)
    const began = scenario.clock.now()
    expect((await scenario.merge(pushAfterChecksStrategy)).kind).toBe('landed')
    expect(scenario.clock.now() - began).toBeGreaterThanOrEqual(3000)
    expect(scenario.clock.now() - began).toBeLessThan(8000)
  })

  test('gives up after ten seconds and reports what GitHub expects', async () => {
    requireBotChecks()
    scenario.github.delayChecks(60_000)
    const began = scenario.clock.now()
    expect(await scenario.merge(pushAfterChecksStrategy)).toMatchObject({
      kind: 'refused',
      rejection: { reason: expect.stringContaining('required status checks are expected') },
    })
    expect(scenario.clock.now() - began).toBeLessThanOrEqual(10_000)
    expect(scenario.otherBranches()).toEqual([])
  })

  test('does not wait for a check of another app or for an approval', async () => {
    scenario.setRules([
      createStatusChecksRule([{ context: 'ci', integration_id: 4711 }]),
      createPullRequestRule({ required_approving_review_count: 1 }),
    ])
    const began = scenario.clock.now()
    expect(await scenario.merge(pushAfterChecksStrategy)).toMatchObject({ kind: 'refused' })
    expect(scenario.clock.now() - began).toBe(0)
  })

  test('merges nothing if the base moves while the checks are written', async () => {
    requireBotChecks()
    let moved = ''
    const outcome = await scenario.merge(pushAfterChecksStrategy, {
      forge: {
        ...scenario.options.forge,
        perform: async (action) => {
          moved ||= await scenario.github.pushToBase(scenario.full, { 'later.txt': 'x\n' })
          return scenario.options.forge.perform(action)
        },
      },
    })
    expect(outcome).toMatchObject({ kind: 'again' })
    expect(scenario.tip()).toBe(moved)
    expect(scenario.otherBranches()).toEqual([])
    expect(scenario.intents).toMatchObject([{ outcome: 'abandoned' }])
  })

  test('merges the evaluated head if the head moves after the recheck', async () => {
    requireBotChecks()
    const { permit } = await scenario.evaluate()
    const outcome = await scenario.merge(pushAfterChecksStrategy, {
      repository: {
        ...scenario.mirror,
        pushMerge: async (...args) => {
          await scenario.github.pushToPull(scenario.pull, { 'alpha.yaml': 'name: other\n' })
          return scenario.mirror.pushMerge(...args)
        },
      },
    })
    expect(outcome).toEqual({ kind: 'landed', commit: permit.merge.commit })
  })

  test('is rejected for the branch if rules for all branches reject the temporary branch', async () => {
    requireBotChecks()
    scenario.github.addRules(scenario.full, [{ type: 'creation' }], {
      conditions: { ref_name: { include: ['~ALL'] } },
    })
    expect(await scenario.merge(pushAfterChecksStrategy)).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'branch' },
    })
    expect(scenario.intents).toEqual([])
  })

  test('never adds a failed check to the merge commit', async () => {
    const [first, ...others] = passingCheckRuns
    if (first === undefined) throw new Error('no check')
    const red = { ...first, conclusion: 'failure' as const }
    await expect(scenario.merge(pushAfterChecksStrategy, { checks: [red, ...others] })).rejects.toThrow(
      'not all required checks passed',
    )
    expect(scenario.otherBranches()).toEqual([])
    // One push creates the temporary branch and one deletes it.
    expect(listPushRequests()).toHaveLength(2)
  })

  test('merges despite a failed optional check, and omits it from the merge commit', async () => {
    requireBotChecks()
    const { permit } = await scenario.evaluate()
    expect(
      await scenario.merge(pushAfterChecksStrategy, { checks: [...passingCheckRuns, failedInstallCheck] }),
    ).toMatchObject({ kind: 'landed' })
    const shown = await scenario.options.forge.readOwnChecks(permit.merge.commit)
    expect(shown.map(({ name }) => name).toSorted()).toEqual(botCheckNames)
  })

  test('is rejected with a reason if the branch requires the failed optional check', async () => {
    requireBotChecks()
    const rules = { checks: { required: [{ name: failedInstallCheck.name }], strict: false } } as never
    expect(
      await scenario.merge(pushAfterChecksStrategy, {
        checks: [...passingCheckRuns, failedInstallCheck],
        rules,
      }),
    ).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'pull', reason: expect.stringContaining('"catalog-bot / install"') },
    })
    expect(scenario.intents).toEqual([])
    expect(scenario.otherBranches()).toEqual([])
  })
})

describe('a temporary branch', () => {
  const name = () => ({ owner: 'catalogs', name: scenario.full.split('/')[1] ?? '' })
  const sweep = () => removeLeftoverStagingBranches(name(), { ...scenario.options, leaseSeconds: 60 })
  const branchOf = (ref: string) => scenario.otherBranches().includes(`refs/heads/${ref}`)

  test('that another person created is neither overwritten nor removed, even with our prefix', async () => {
    requireBotChecks()
    const { permit } = await scenario.evaluate()
    const names = [
      formatTemporaryBranchName(permit.merge),
      'catalog-bot/tmp-9-main-0123456789ab',
      'catalog-bot/tmp-9',
    ]
    for (const branch of names)
      await scenario.github.pushToBase(scenario.full, { 'theirs.txt': branch }, { by: 'bob', branch })
    expect(await scenario.merge(pushAfterChecksStrategy)).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'pull', reason: expect.stringContaining('was not created by catalog-bot') },
    })
    await sweep()
    expect(names.filter((branch) => !branchOf(branch))).toEqual([])
  })

  test('is not removed by the sweep if another person has moved it', async () => {
    const { permit } = await scenario.evaluate()
    const branch = formatTemporaryBranchName(permit.merge)
    const { base, commit } = permit.merge
    await recordStagedCommit(permit.merge, commit, scenario.options.store)
    expect(await scenario.mirror.createStagingBranch(permit)).toEqual({ kind: 'staged' })
    expect(await scenario.mirror.deleteStagingBranch(branch, base)).toBe(false)
    await scenario.github.pushToBase(scenario.full, { 'theirs.txt': 'x' }, { by: 'bob', branch })
    await sweep()
    expect(branchOf(branch)).toBe(true)
  })

  test('that moves right before the removal is kept', async () => {
    const { permit } = await scenario.evaluate()
    const branch = formatTemporaryBranchName(permit.merge)
    await recordStagedCommit(permit.merge, permit.merge.commit, scenario.options.store)
    await scenario.mirror.createStagingBranch(permit)
    const deleteStagingBranch: typeof scenario.mirror.deleteStagingBranch = async (...args) => {
      await scenario.github.pushToBase(scenario.full, { 'theirs.txt': 'x' }, { by: 'bob', branch })
      return scenario.mirror.deleteStagingBranch(...args)
    }
    await removeLeftoverStagingBranches(name(), {
      ...scenario.options,
      repository: { deleteStagingBranch },
      leaseSeconds: 60,
    })
    expect(branchOf(branch)).toBe(true)
  })

  test('left over from an earlier attempt is replaced', async () => {
    requireBotChecks()
    const { permit } = await scenario.evaluate()
    const { merge } = permit
    await recordStagedCommit(merge, merge.base, scenario.options.store)
    await scenario.mirror.createStagingBranch(permit)
    await recordStagedCommit(merge, merge.commit, scenario.options.store)
    expect((await scenario.merge(signedPushAfterChecksStrategy)).kind).toBe('landed')
    expect(scenario.otherBranches()).toEqual([])
  })
})

describe('a signed push', () => {
  test('merges a commit by GitHub with the same parents and tree, which the intent names first', async () => {
    scenario.setRules([{ type: 'required_signatures' }])
    const { permit } = await scenario.evaluate()
    const starts: (string | undefined)[] = []
    const outcome = await scenario.merge(signedPushStrategy, {
      repository: {
        ...scenario.mirror,
        pushMerge: (...args) => {
          starts.push(scenario.intents.at(-1)?.commit)
          return scenario.mirror.pushMerge(...args)
        },
      },
    })
    const { commit, base, head, tree } = permit.merge
    expect(outcome).toEqual({ kind: 'landed', commit: scenario.tip() })
    expect(starts).toEqual([scenario.tip()])
    expect(scenario.tip()).not.toBe(commit)
    expect(await scenario.parentsOf(scenario.tip())).toEqual([base, head])
    expect(await scenario.treeOf(scenario.tip())).toBe(tree)
    expect((await scenario.mirror.messageOf(scenario.tip())).trim()).toBe(
      'Merge pull request 1: Alpha\n\nHead',
    )
    expect(scenario.otherBranches()).toEqual([])
  })

  test('adds the checks to the commit by GitHub, not to the unsigned one', async () => {
    requireBotChecks()
    scenario.setRules([{ type: 'required_signatures' }])
    const { permit } = await scenario.evaluate()
    expect((await scenario.merge(signedPushAfterChecksStrategy)).kind).toBe('landed')
    const runsOn = (headSha: string) => scenario.github.checkRuns({ repo: scenario.pull.repo, headSha })
    expect(runsOn(scenario.tip())).toHaveLength(2)
    expect(runsOn(permit.merge.commit)).toEqual([])
  })

  test('is not attempted for a commit that GitHub does not verify', async () => {
    const { merging } = scenario.options
    const outcome = await scenario.merge(signedPushStrategy, {
      merging: {
        ...merging,
        createSignedCommit: async (...args) => ({
          ...(await merging.createSignedCommit(...args)),
          unverified: 'unsigned',
        }),
      },
    })
    expect(outcome).toMatchObject({ kind: 'refused', rejection: { scope: 'branch' } })
    expect(scenario.intents).toEqual([])
    expect(scenario.otherBranches()).toEqual([])
  })

  test('does not push a signed commit that is not the validated merge', async () => {
    const { permit } = await scenario.evaluate()
    const before = scenario.tip()
    const { merging } = scenario.options
    const outcome = scenario.merge(signedPushStrategy, {
      merging: { ...merging, createSignedCommit: async () => ({ commit: permit.merge.head }) },
    })
    await expect(outcome).rejects.toMatchObject({ code: 'refused' })
    expect(scenario.tip()).toBe(before)
  })
})

describe('if approvals count only for the merge that GitHub would create', () => {
  const approved = () => {
    scenario.setRules([
      createPullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true }),
    ])
    scenario.github.review(scenario.pull, 'bob', 'approve')
  }

  test('an identical merge is pushed', async () => {
    approved()
    expect((await scenario.merge(directPushStrategy, { needsGitHubsTree: true })).kind).toBe('landed')
  })

  async function mergeWithTestMerge(isOnCurrentBase: boolean) {
    const { base, head } = (await scenario.evaluate()).permit.merge
    return scenario.merge(directPushStrategy, {
      needsGitHubsTree: true,
      repository: {
        ...scenario.mirror,
        fetchTestMerge: async () => head,
        parentsOf: async () => (isOnCurrentBase ? [base, head] : [head, base]),
      },
    })
  }

  test('a different merge is rejected for this pull request without a push', async () => {
    expect(await mergeWithTestMerge(true)).toMatchObject({
      kind: 'refused',
      rejection: { scope: 'pull', reason: expect.stringContaining('rebase') },
    })
    expect(scenario.intents).toEqual([])
    expect(listPushRequests()).toEqual([])
  })

  test('a test merge with another base is ignored', async () => {
    expect(await mergeWithTestMerge(false)).toMatchObject({ kind: 'mismatch' })
  })
})

test('a temporary branch name encodes the pull request and base, and other names are ignored', async () => {
  const commit = toCommitSha('0123456789abcdef'.repeat(3).slice(0, 40))
  for (const baseRef of ['main', 'release/v4.18', 'a%2Fb', 'ä'])
    expect(
      parseTemporaryBranchName(formatTemporaryBranchName({ pull: toPullNumber(7), baseRef, commit })),
    ).toEqual({ pull: 7, baseRef })
  expect(formatTemporaryBranchName({ pull: toPullNumber(7), baseRef: 'release/v4.18', commit })).not.toMatch(
    /tmp-.*\//,
  )
  for (const branch of [
    'main',
    'catalog-bot/tmp-',
    'catalog-bot/tmp-1-main',
    'catalog-bot/tmp-0-main-0123456789ab',
    'catalog-bot/tmp-1-%-0123456789ab',
    'catalog-bot/tmp-x-main-0123456789ab',
    'catalog-bot/tmp-1-a/b-0123456789ab',
  ])
    expect(parseTemporaryBranchName(branch)).toBeUndefined()
})
