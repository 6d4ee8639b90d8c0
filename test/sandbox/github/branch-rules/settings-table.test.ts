// What GitHub's documentation and its users report about each branch setting when an app pushes a merge commit that it
// created, by compare-and-swap and without bypassing checks. Each describe block is a row of that table.
import { describe, expect, test } from '@jest/globals'
import { readBranchRuleSettings } from '../../../shared-data.ts'
import {
  MergeRulesFixture,
  acceptedPushResult,
  createStatusChecksRule,
  createPullRequestRule,
  createMergeQueueRule,
  createBranchProtectionRejection,
  formatRuleViolations,
} from './merge-rules-fixture.ts'
import type { BranchRulesScenario } from './merge-rules-fixture.ts'

const {
  githubFixture,
  readTip,
  openMergeCaseWithRules,
  push,
  createExpectedPushRejection,
  expectPushMerges,
  setCheck,
  expectPushRejected,
  stage,
  setCiStatus,
  createMerge,
  openMergeCase,
  createAppBypass,
  pushMerge,
  expectPullMerged,
  mergeByApi,
  expectApiRejection,
  captureError,
} = await MergeRulesFixture.furnish()
const { github, installation, octokit } = githubFixture

const botCheckName = 'catalog-bot / validation'
const approvalRequiredMessage = 'At least 1 approving review is required by reviewers with write access.'
const lastPushApprovalMessage = 'New changes require approval from someone other than the last pusher.'
const linearHistoryRequiredMessage = 'This branch must not contain merge commits.'
const mergeQueueRequiredMessage = 'Changes must be made through the merge queue'
const pushNotAuthorizedMessage =
  "You're not authorized to push to this branch. Visit https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches for more information."

/** The table rows with tests below, by the text in their first column. */
const testedSettingNames: string[] = []
function describeSettingTests(setting: string, claims: () => void): void {
  testedSettingNames.push(setting)
  describe(setting, claims)
}

const expectPullNotMerged = async (it: BranchRulesScenario): Promise<void> => {
  expect(await readTip(it)).toBe(it.baseSha)
  expect(it.pull).toMatchObject({ state: 'open', merged: null })
}

describeSettingTests('none, deletion, non_fast_forward', () => {
  test('a merge is accepted, a deletion and a force push are rejected', async () => {
    const it = await openMergeCaseWithRules([{ type: 'deletion' }, { type: 'non_fast_forward' }])
    expect(await push(it, ':refs/heads/main')).toMatchObject({ accepted: false })
    expect(await push(it, `+${it.headSha}:refs/heads/main`)).toEqual(
      createExpectedPushRejection(it, 'Cannot force-push to this branch'),
    )
    await expectPullNotMerged(it)
    await expectPushMerges(it)
  })

  test('a push with lease to a moved base is rejected by Git, not by a rule', async () => {
    const it = await openMergeCaseWithRules([{ type: 'non_fast_forward' }])
    await github.pushToBase(it.full, { 'again.txt': 'x' })
    const pushed = await push(it, [`--force-with-lease=main:${it.baseSha}`, `${it.mergeSha}:refs/heads/main`])
    expect(pushed).toMatchObject({ accepted: false, remote: [], reason: undefined })
  })
})

describeSettingTests('required own checks', () => {
  test('must pass on the merge commit: a passing head that is behind is not enough', async () => {
    const app = githubFixture.app.id
    const it = await openMergeCaseWithRules([
      createStatusChecksRule([{ context: botCheckName, integration_id: app }]),
    ])
    await setCheck(it, it.headSha, botCheckName)
    await expectPushRejected(it, `Required status check "${botCheckName}" is expected.`)
    await expectPullNotMerged(it)
    expect(await stage(it)).toMatchObject(acceptedPushResult)
    await setCheck(it, it.mergeSha, botCheckName)
    await expectPushMerges(it)
  })
})

describeSettingTests('required foreign checks (CI)', () => {
  test('count if CI ran on the merge commit', async () => {
    const it = await openMergeCaseWithRules([createStatusChecksRule([{ context: 'ci' }])])
    await setCiStatus(it, it.headSha)
    await expectPushRejected(it, 'Required status check "ci" is expected.')
    await stage(it)
    await setCiStatus(it, it.mergeSha)
    await expectPushMerges(it)
  })

  test('count on the head if it contains the base', async () => {
    const it = await openMergeCaseWithRules([createStatusChecksRule([{ context: 'ci' }])], { behind: false })
    await setCiStatus(it, it.headSha)
    await expectPushMerges(it)
  })
})

describeSettingTests('pull_request, 0 approvals', () => {
  test('an open pull request is required and sufficient', async () => {
    const it = await openMergeCaseWithRules([createPullRequestRule()])
    await github.close(it.pull)
    await expectPushRejected(it, 'Changes must be made through a pull request.')
    await github.reopen(it.pull)
    await expectPushMerges(it)
  })
})

describeSettingTests('pull_request, ≥1', () => {
  test('requires an approval by a user with write access', async () => {
    const it = await openMergeCaseWithRules([createPullRequestRule({ required_approving_review_count: 1 })])
    github.review(it.pull, 'outsider', 'approve')
    await expectPushRejected(it, approvalRequiredMessage)
    github.review(it.pull, 'bob', 'approve')
    await expectPushMerges(it)
  })
})

describeSettingTests('+ dismiss stale / last push', () => {
  test.each([
    ['dismiss_stale_reviews_on_push', approvalRequiredMessage],
    ['require_last_push_approval', lastPushApprovalMessage],
  ])('%s: accepts only a merge with exactly the tree that GitHub creates', async (setting, says) => {
    const it = await openMergeCaseWithRules([
      createPullRequestRule({ required_approving_review_count: 1, [setting]: true }),
    ])
    github.review(it.pull, 'bob', 'approve')
    const { mergeSha } = await createMerge(it, { 'alpha.yaml': 'name: alpha\nmore: 1\n' })
    expect(await push(it, `${mergeSha}:refs/heads/main`)).toEqual(createExpectedPushRejection(it, says))
    await expectPullNotMerged(it)
    await expectPushMerges(it)
  })

  test('a push that changes the pull request dismisses its approvals, but merging the base in does not', async () => {
    const rules = [
      createPullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true }),
    ]
    const it = await openMergeCaseWithRules(rules)
    const review = github.review(it.pull, 'bob', 'approve')
    await stage(it)
    await github.forcePush(it.pull, { commit: it.mergeSha })
    expect(review.state).toBe('APPROVED')
    await github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' })
    expect(review.state).toBe('DISMISSED')
    const again = { ...it, ...(await createMerge(it)) }
    await expectPushRejected(again, approvalRequiredMessage)
  })

  test('an approval by the last pusher does not count', async () => {
    const rules = [
      createPullRequestRule({ required_approving_review_count: 1, require_last_push_approval: true }),
    ]
    const it = await openMergeCaseWithRules(rules)
    await github.pushToPull(it.pull, { 'beta.yaml': 'name: beta\n' }, { by: 'bob' })
    github.review(it.pull, 'bob', 'approve')
    const again = { ...it, ...(await createMerge(it)) }
    await expectPushRejected(again, lastPushApprovalMessage)
    github.review(it.pull, 'carol', 'approve')
    await expectPushMerges(again)
  })
})

describeSettingTests('code owners, conversations', () => {
  test('a code owner of the changed files must approve, and another approval is not enough', async () => {
    const files = { '.github/CODEOWNERS': '* @bob\n*.yaml @carol\n' }
    const it = await openMergeCaseWithRules([createPullRequestRule({ require_code_owner_review: true })], {
      files,
    })
    github.review(it.pull, 'bob', 'approve')
    await expectPushRejected(it, 'Waiting on code owner review from carol.')
    github.review(it.pull, 'carol', 'approve')
    await expectPushMerges(it)
  })

  test('conversations must be resolved', async () => {
    const it = await openMergeCaseWithRules([
      createPullRequestRule({ required_review_thread_resolution: true }),
    ])
    github.openConversation(it.pull)
    const expectedMessage = 'A conversation must be resolved before this pull request can be merged.'
    await expectPushRejected(it, expectedMessage)
    github.resolveConversation(it.pull)
    await expectPushMerges(it)
  })
})

describeSettingTests('`update` / restricted pushers', () => {
  test.each(['always', 'exempt'] as const)('with bypass %s, the merge is accepted', async (bypass_mode) => {
    const it = await openMergeCase()
    const ruleset = github.addRules(it.full, [{ type: 'update' }])
    await expectPushRejected(it, 'Cannot update this protected ref.')
    await expectPullNotMerged(it)
    github.removeRuleset(it.full, ruleset)
    const app = createAppBypass(bypass_mode)
    github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    const pushed = await pushMerge(it)
    expect(pushed).toMatchObject(acceptedPushResult)
    // GitHub reports nothing to an exempt actor.
    expect(pushed.remote).toEqual(
      bypass_mode === 'exempt'
        ? []
        : ['Bypassed rule violations for refs/heads/main:', '', '- Cannot update this protected ref.', ''],
    )
    await expectPullMerged(it)
  })

  test('with bypass for pull requests only, a push is rejected and a merge by API is accepted', async () => {
    const it = await openMergeCase()
    const app = createAppBypass('pull_request')
    github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    await expectPushRejected(it, 'Cannot update this protected ref.')
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('bypass of one ruleset does not apply to another', async () => {
    const it = await openMergeCaseWithRules([createStatusChecksRule([{ context: botCheckName }])])
    const app = createAppBypass('always')
    github.addRules(it.full, [{ type: 'update' }], { bypass_actors: [app] })
    await expectPushRejected(it, `Required status check "${botCheckName}" is expected.`)
  })

  test('an entry in the classic push allowlist is necessary, but not sufficient', async () => {
    const it = await openMergeCase()
    const none = { required_status_checks: null, enforce_admins: true, required_pull_request_reviews: null }
    const checks = { strict: false, contexts: [botCheckName] }
    const list = (apps: string[]): void =>
      github.protect(it.full, 'main', {
        ...none,
        required_status_checks: checks,
        restrictions: { users: [], teams: [], apps },
      })
    list([])
    const missing = `Required status check "${botCheckName}" is expected.`
    expect(await pushMerge(it)).toEqual(createBranchProtectionRejection([missing, pushNotAuthorizedMessage]))
    list(['catalog-bot'])
    expect(await pushMerge(it)).toEqual(createBranchProtectionRejection([missing]))
    await stage(it)
    await setCheck(it, it.mergeSha, botCheckName)
    await expectPushMerges(it)
  })
})

describeSettingTests('required_linear_history', () => {
  test('a merge commit is rejected, but a squash by API is accepted', async () => {
    const it = await openMergeCaseWithRules([{ type: 'required_linear_history' }])
    const pushed = await pushMerge(it)
    expect(pushed).toMatchObject({ accepted: false, reason: createExpectedPushRejection(it).reason })
    expect(pushed.remote.slice(-5)).toEqual([
      `- ${linearHistoryRequiredMessage}`,
      'Found 1 violation:',
      '',
      it.mergeSha,
      '',
    ])
    await expectApiRejection(it, linearHistoryRequiredMessage, 'merge')
    await expectPullNotMerged(it)
    expect(await mergeByApi(it, 'squash')).toEqual({ sha: await readTip(it) })
  })

  test('classic protection rejects a merge commit, but accepts a rebase by API', async () => {
    const it = await openMergeCase()
    github.protect(it.full, 'main', { required_linear_history: true, enforce_admins: true })
    expect(await pushMerge(it)).toMatchObject({ reason: 'protected branch hook declined' })
    expect(await mergeByApi(it, 'merge')).toEqual({ status: 405, message: linearHistoryRequiredMessage })
    expect(await mergeByApi(it, 'rebase')).toEqual({ sha: await readTip(it) })
  })
})

describeSettingTests('`allowed_merge_methods` without merge', () => {
  test('a pushed merge counts as a merge commit, and the API accepts an allowed method', async () => {
    const it = await openMergeCaseWithRules([createPullRequestRule({ allowed_merge_methods: ['squash'] })])
    const expectedMessage = 'Merge commits are not allowed on this repository.'
    await expectPushRejected(it, expectedMessage)
    await expectApiRejection(it, expectedMessage, 'merge')
    expect(await mergeByApi(it, 'rebase')).toMatchObject({ status: 405 })
    await expectPullNotMerged(it)
    expect(await mergeByApi(it, 'squash')).toEqual({ sha: await readTip(it) })
  })
})

describeSettingTests('repo `allow_merge_commit=false` alone', () => {
  test('the API rejects a merge commit, but a push is accepted', async () => {
    const it = await openMergeCase()
    github.allowMergeMethods(it.full, { merge: false })
    const message = 'Merge commits are not allowed on this repository.'
    expect(await mergeByApi(it, 'merge')).toEqual({ status: 405, message })
    await expectPullNotMerged(it)
    await expectPushMerges(it)
  })
})

describeSettingTests('required_signatures', () => {
  const unsigned = 'Commits must have verified signatures.'

  test('an unsigned merge is rejected, but one created by the app through the API is accepted', async () => {
    const it = await openMergeCaseWithRules([{ type: 'required_signatures' }], { signed: true })
    const pushed = await pushMerge(it)
    expect(pushed).toMatchObject({ accepted: false, reason: createExpectedPushRejection(it).reason })
    expect(pushed.remote.slice(-5)).toEqual([`- ${unsigned}`, 'Found 1 violation:', '', it.mergeSha, ''])
    await expectPullNotMerged(it)
    await stage(it)
    const { rest } = octokit
    const { data: made } = await rest.git.getCommit({ ...it.name, commit_sha: it.mergeSha })
    const parents = [it.baseSha, it.headSha]
    const { data: signed } = await rest.git.createCommit({
      ...it.name,
      message: 'Merge',
      tree: made.tree.sha,
      parents,
    })
    expect(signed.verification).toMatchObject({ verified: true, reason: 'valid' })
    expect(signed.parents.map(({ sha }) => sha)).toEqual(parents)
    await rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: signed.sha, force: false })
    expect(it.pull.merged).toMatchObject({ sha: signed.sha })
  })

  test('every commit is verified, including those of the pull request', async () => {
    const it = await openMergeCaseWithRules([{ type: 'required_signatures' }])
    await expectApiRejection(it, unsigned, 'merge')
    await expectApiRejection(it, unsigned, 'rebase')
    // On GitHub, only the author of the pull request can squash it.
    await expectApiRejection(it, unsigned, 'squash')
  })

  test('a commit with a custom author is not signed', async () => {
    const it = await openMergeCaseWithRules([{ type: 'required_signatures' }], { signed: true })
    await stage(it)
    const tree = (await octokit.rest.git.getCommit({ ...it.name, commit_sha: it.mergeSha })).data.tree.sha
    const { data } = await octokit.rest.git.createCommit({
      ...it.name,
      message: 'Merge',
      tree,
      parents: [it.baseSha, it.headSha],
      author: { name: 'catalog-bot', email: 'bot@example.invalid' },
    })
    expect(data.verification).toMatchObject({ verified: false, reason: 'unsigned' })
    const moved = octokit.rest.git.updateRef({ ...it.name, ref: 'heads/main', sha: data.sha })
    expect(await captureError(moved)).toEqual({ status: 422, message: formatRuleViolations(unsigned) })
  })
})

describeSettingTests('merge_queue', () => {
  test('a merge outside the queue is rejected, by push and by API', async () => {
    const it = await openMergeCaseWithRules([createMergeQueueRule()])
    await expectPushRejected(it, mergeQueueRequiredMessage)
    await expectApiRejection(it, mergeQueueRequiredMessage)
    await expectPullNotMerged(it)
  })

  test('with bypass, the queue is skipped', async () => {
    const it = await openMergeCase()
    const app = createAppBypass('always')
    github.addRules(it.full, [createMergeQueueRule()], { bypass_actors: [app] })
    expect(await mergeByApi(it)).toEqual({ sha: await readTip(it) })
  })
})

describeSettingTests('`workflows` rule', () => {
  test('blocks direct pushes', async () => {
    const workflow = { path: '.github/workflows/ci.yml', repository_id: 1 }
    const it = await openMergeCaseWithRules([{ type: 'workflows', parameters: { workflows: [workflow] } }])
    await expectPushRejected(it, "Required workflow 'ci' is not satisfied")
    await expectPullNotMerged(it)
    await github.runWorkflow(it.full, 'ci.yml', it.headSha)
    expect(await mergeByApi(it)).toEqual({ sha: await readTip(it) })
  })
})

describeSettingTests('code_scanning, deployments', () => {
  test('are undocumented for pushes and assumed to reject them, but the API merges', async () => {
    const tool = { tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'all' }
    const environments = { required_deployment_environments: ['staging'] }
    const it = await openMergeCaseWithRules([
      { type: 'code_scanning', parameters: { code_scanning_tools: [tool] } },
      { type: 'required_deployments', parameters: environments },
    ])
    const scanning = `Code scanning is waiting for results from CodeQL for the commit ${it.mergeSha.slice(0, 7)}.`
    const deployment = 'Missing successful active staging deployment.'
    await expectPushRejected(it, scanning, deployment)
    github.analyze(it.full, it.headSha, 'CodeQL')
    github.deploy(it.full, it.headSha, 'staging')
    expect(await mergeByApi(it)).toEqual({ sha: await readTip(it) })
  })
})

describeSettingTests('PR edits `.github/workflows/`', () => {
  test('is rejected without workflows: write, even for a temporary ref', async () => {
    const changes = { '.github/workflows/ci.yml': 'on: push\n' }
    // The head comes from a fork, so the app adds the workflow to the base repository.
    const it = await openMergeCaseWithRules([], { changes })
    const reason =
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission'
    expect(await pushMerge(it)).toEqual({ accepted: false, remote: [], reason })
    expect(await stage(it)).toEqual({ accepted: false, remote: [], reason })
    expect(await mergeByApi(it)).toEqual({ status: 403, message: reason })
    await expectPullNotMerged(it)
    const before = installation.permissions
    github.setPermissions(installation, { ...before, workflows: 'write' })
    await expectPushMerges(it)
    github.setPermissions(installation, before)
  })

  test('a workflow change on the base does not count as an edit in the merge', async () => {
    const it = await openMergeCase({ behind: false })
    await github.pushToBase(it.full, { '.github/workflows/ci.yml': 'on: push\n' })
    const again = { ...it, ...(await createMerge(it)) }
    await expectPushMerges(again)
  })
})

test('every row of the table has a test', () => {
  const settings = readBranchRuleSettings()
  if (settings === undefined) return
  expect(testedSettingNames).toEqual(settings)
})
