// How "Require a pull request" applies to a push, and how rules combine: several refs in one push, classic protection
// next to rulesets, and what each requires for creating a branch.
import { describe, expect, test } from '@jest/globals'
import { runGit, createPullOptions } from '../github-fixture.ts'
import {
  MergeRulesFixture,
  acceptedPushResult,
  createStatusChecksRule,
  createPullRequestRule,
  createBranchProtectionRejection,
  createRulesetRejection,
} from './merge-rules-fixture.ts'
import type { BranchRulesScenario, PushResult } from './merge-rules-fixture.ts'

const { githubFixture, openMergeCase, push, createExpectedPushRejection, pushMerge, expectPushRejected } =
  await MergeRulesFixture.furnish()
const { github } = githubFixture

const pullRequestRequiredMessage = 'Changes must be made through a pull request.'
const createBranchRulesScenario = async (
  more?: Parameters<MergeRulesFixture['openMergeCase']>[0],
): Promise<BranchRulesScenario> => {
  const it = await openMergeCase(more)
  github.addRules(it.full, [createPullRequestRule()])
  return it
}

describe('a required pull request', () => {
  test('is missing for a commit that belongs to no pull request', async () => {
    const it = await createBranchRulesScenario()
    await runGit(it.folder, undefined, 'checkout', '-q', '--detach', it.baseSha)
    await runGit(it.folder, undefined, 'commit', '-q', '--allow-empty', '-m', 'Direct')
    expect(await push(it, 'HEAD:refs/heads/main')).toEqual(
      createExpectedPushRejection(it, pullRequestRequiredMessage),
    )
  })

  test('is limited to one per push: two stacked merges are rejected, but separate pushes are accepted', async () => {
    const it = await createBranchRulesScenario()
    const other = await github.openPull(
      createPullOptions('Beta', { 'beta.yaml': 'name: beta\n' }, { repository: it.full }),
    )
    await runGit(it.folder, undefined, 'checkout', '-q', '--detach', it.mergeSha)
    await runGit(it.folder, undefined, 'merge', '-q', '--no-ff', '-m', 'Both', other.headSha)
    expect(await push(it, 'HEAD:refs/heads/main')).toEqual(
      createExpectedPushRejection(it, pullRequestRequiredMessage),
    )
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
    expect(await push(it, 'HEAD:refs/heads/main')).toMatchObject(acceptedPushResult)
    expect([it.pull.merged, other.merged]).not.toContain(null)
  })

  test('does not cover an extra commit on top of the merge', async () => {
    const it = await createBranchRulesScenario()
    await runGit(it.folder, undefined, 'checkout', '-q', '--detach', it.mergeSha)
    await runGit(it.folder, undefined, 'commit', '-q', '--allow-empty', '-m', 'On top')
    expect(await push(it, 'HEAD:refs/heads/main')).toEqual(
      createExpectedPushRejection(it, pullRequestRequiredMessage),
    )
  })

  test('can be pushed unchanged if its head contains the base', async () => {
    const it = await createBranchRulesScenario({ behind: false })
    expect(await push(it, `${it.headSha}:refs/heads/main`)).toMatchObject(acceptedPushResult)
    expect(it.pull).toMatchObject({ state: 'closed', merged: { sha: it.headSha } })
  })

  test('does not count if it is a draft or has another base branch', async () => {
    const it = await createBranchRulesScenario()
    await github.pushToBase(it.full, { x: '1' }, { branch: 'next' })
    await github.retarget(it.pull, 'next')
    await expectPushRejected(it, pullRequestRequiredMessage)
    await github.retarget(it.pull, 'main')
    await github.draft(it.pull)
    await expectPushRejected(it, pullRequestRequiredMessage)
  })

  test('with a review that requests changes is not approved', async () => {
    const it = await openMergeCase()
    github.addRules(it.full, [createPullRequestRule({ required_approving_review_count: 1 })])
    github.review(it.pull, 'bob', 'approve')
    github.review(it.pull, 'carol', 'changes', 'No')
    expect(await pushMerge(it)).toMatchObject({ accepted: false })
    github.review(it.pull, 'carol', 'approve')
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
  })

  test('is not required from apps that classic protection allows to bypass it', async () => {
    const it = await openMergeCase()
    const protect = (apps: string[]): void =>
      github.protect(it.full, 'main', {
        enforce_admins: true,
        required_pull_request_reviews: {
          required_approving_review_count: 1,
          bypass_pull_request_allowances: { apps },
        },
      })
    protect([])
    const approval = 'At least 1 approving review is required by reviewers with write access.'
    expect(await pushMerge(it)).toEqual(createBranchProtectionRejection([approval]))
    protect(['catalog-bot'])
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
  })
})

describe('layered rules', () => {
  test('add up for rulesets and classic protection, and shared violations are reported once', async () => {
    const it = await openMergeCase()
    github.addRules(it.full, [createStatusChecksRule([{ context: 'ci' }])])
    github.protect(it.full, 'main', {
      required_status_checks: { strict: false, contexts: ['ci'] },
      lock_branch: true,
    })
    const messages = ['Required status check "ci" is expected.', 'Cannot change this locked branch']
    await expectPushRejected(it, ...messages)
  })

  test('apply per ref: of two refs in one push, only one is rejected unless the push is atomic', async () => {
    const it = await createBranchRulesScenario()
    await github.close(it.pull)
    const pushed = await push(it, [`${it.mergeSha}:refs/heads/main`, `${it.mergeSha}:refs/heads/free`])
    expect(pushed).toMatchObject({ ...createExpectedPushRejection(it, pullRequestRequiredMessage) })
    const { knownRefs } = github.repository(it.full)
    expect(knownRefs.get('refs/heads/free')).toBe(it.mergeSha)
    expect(knownRefs.get('refs/heads/main')).toBe(it.baseSha)
    // With --atomic, the push is all or nothing.
    const both = ['--atomic', `${it.mergeSha}:refs/heads/main`, `${it.mergeSha}:refs/heads/free-too`]
    expect(await push(it, both)).toMatchObject({ accepted: false })
    expect(github.repository(it.full).knownRefs.has('refs/heads/free-too')).toBe(false)
  })

  test('for branch creation: a ruleset always applies, a classic pattern only with block_creations', async () => {
    const it = await openMergeCase()
    const none = { required_status_checks: { strict: false, contexts: ['ci'] }, enforce_admins: true }
    github.protect(it.full, 'release-*', none)
    const make = async (branch: string): Promise<PushResult> => push(it, `${it.baseSha}:refs/heads/${branch}`)
    expect(await make('release-1')).toMatchObject(acceptedPushResult)
    expect(await push(it, `${it.mergeSha}:refs/heads/release-1`)).toEqual(
      createBranchProtectionRejection(['Required status check "ci" is expected.'], 'release-1'),
    )
    const restrictions = { users: [], teams: [], apps: [] }
    github.protect(it.full, 'release-*', { ...none, restrictions, block_creations: true })
    expect(await make('release-2')).toMatchObject({ reason: 'protected branch hook declined' })
    const all = { conditions: { ref_name: { include: ['~ALL'] } } }
    github.addRules(it.full, [{ type: 'creation' }], all)
    const messages = ['Cannot create ref due to creations being restricted.']
    expect(await make('other')).toEqual(createRulesetRejection(it.full, github.url, messages, 'other'))
  })

  test('reject nothing if they are disabled or only evaluated', async () => {
    const it = await openMergeCase()
    for (const enforcement of ['evaluate', 'disabled'] as const)
      github.addRules(it.full, [{ type: 'update' }], { enforcement })
    expect(await pushMerge(it)).toMatchObject(acceptedPushResult)
  })
})
