// What GitHub rejects beyond the settings table. The code that enforces each rule links to its source.
import { afterEach, describe, expect, test } from '@jest/globals'
import { dequeueReasons } from '../../../../sandbox/github/branch-rules/merge-queue.ts'
import {
  MergeRulesFixture,
  createPullRequestRule,
  createMergeQueueRule,
  createStatusChecksRule,
} from './merge-rules-fixture.ts'
import type { BranchRulesScenario } from './merge-rules-fixture.ts'

const {
  githubFixture,
  createMerge,
  stage,
  openMergeCaseWithRules,
  expectApiRejection,
  mergeByApi,
  pushMerge,
  openMergeCase,
  setCiStatus,
  push,
} = await MergeRulesFixture.furnish()
const { github, octokit } = githubFixture
afterEach(() => {
  github.delayTestMerges(0)
})

const readPullMergeableState = async ({ name, pull }: BranchRulesScenario): Promise<string> => {
  const pullParams = { ...name, pull_number: pull.number }
  await octokit.rest.pulls.get(pullParams)
  await github.settled()
  return (await octokit.rest.pulls.get(pullParams)).data.mergeable_state
}
/** The author merges the base into the head. */
const mergeBaseIntoHead = async (it: BranchRulesScenario): Promise<void> => {
  const { mergeSha } = await createMerge(it)
  await stage(it, mergeSha)
  await github.forcePush(it.pull, { commit: mergeSha })
}
const approvalRule = createPullRequestRule({ required_approving_review_count: 1 })
const changesRequestedMessage = 'Changes have been requested.'

describe('a merge by GitHub is blocked', () => {
  test('until each environment has a successful deployment of the head', async () => {
    const rule = {
      type: 'required_deployments',
      parameters: { required_deployment_environments: ['staging', 'test'] },
    }
    const it = await openMergeCaseWithRules([rule])
    await expectApiRejection(it, 'Missing successful active staging and test deployments.')
    github.deploy(it.full, it.headSha, 'staging')
    github.deploy(it.full, it.headSha, 'test')
    github.deploy(it.full, it.headSha, 'test', 'failure')
    await expectApiRejection(it, 'Missing successful active test deployment.')
    github.deploy(it.full, it.headSha, 'test')
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('until code scanning has analyzed the head and found no alerts', async () => {
    const tools = [{ tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'all' }]
    const it = await openMergeCaseWithRules([
      { type: 'code_scanning', parameters: { code_scanning_tools: tools } },
    ])
    expect(await mergeByApi(it)).toMatchObject({
      message: expect.stringContaining('Code scanning is waiting for results from CodeQL for the commits'),
    })
    github.analyze(it.full, it.headSha, 'CodeQL', 2)
    await expectApiRejection(it, 'CodeQL has detected 2 alerts blocking this code.')
    github.analyze(it.full, it.headSha, 'CodeQL')
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('until the required workflow passes on the head, while a push stays rejected', async () => {
    const workflows = [{ path: '.github/workflows/ci.yml', repository_id: 1 }]
    const it = await openMergeCaseWithRules([{ type: 'workflows', parameters: { workflows } }])
    const expectedMessage = "Required workflow 'ci' is not satisfied"
    await github.runWorkflow(it.full, 'ci.yml', it.headSha, 'failure')
    await expectApiRejection(it, expectedMessage)
    await github.runWorkflow(it.full, 'ci.yml', it.headSha)
    expect((await pushMerge(it)).remote).toContain(`- ${expectedMessage}`)
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('for a squash of another author’s commits if signatures are required', async () => {
    const it = await openMergeCaseWithRules([{ type: 'required_signatures' }], { signed: true })
    await expectApiRejection(it, 'Commits must have verified signatures.', 'squash')
    expect(await mergeByApi(it, 'merge')).toHaveProperty('sha')
  })

  test('by requested changes, even with enough approvals', async () => {
    const it = await openMergeCaseWithRules([approvalRule])
    github.review(it.pull, 'bob', 'approve')
    const review = github.review(it.pull, 'carol', 'changes', 'No.')
    await expectApiRejection(it, changesRequestedMessage)
    expect((await pushMerge(it)).remote).toContain(`- ${changesRequestedMessage}`)
    github.dismiss(it.pull, review)
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('by requested changes on the same commit in another pull request', async () => {
    const it = await openMergeCaseWithRules([approvalRule])
    await github.pushToBase(it.full, { x: '1' }, { branch: 'release' })
    const secondPull = await github.openPull({
      repository: it.full,
      author: 'alice',
      title: 'Twin',
      base: 'release',
      commit: it.headSha,
      branch: 'twin',
    })
    github.review(it.pull, 'bob', 'approve')
    const review = github.review(secondPull, 'carol', 'changes', 'No.')
    await expectApiRejection(it, changesRequestedMessage)
    github.dismiss(secondPull, review)
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('until a member of the required team approves the files that match its patterns', async () => {
    const team = github.createTeam('catalogs', `reviewers-${Date.now()}`, ['carol'])
    const reviewer = { id: team.id, type: 'Team' }
    const required_reviewers = [{ minimum_approvals: 1, file_patterns: ['*.yaml'], reviewer }]
    const it = await openMergeCaseWithRules([createPullRequestRule({ required_reviewers })])
    github.setTeamRole(it.full, team, 'write')
    github.review(it.pull, 'bob', 'approve')
    await expectApiRejection(it, `Required reviewer catalogs/${team.slug} must approve.`)
    github.review(it.pull, 'carol', 'approve')
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })

  test('while another merge of the same pull request is in progress', async () => {
    const it = await openMergeCase()
    const both = await Promise.all([mergeByApi(it), mergeByApi(it)])
    expect(both).toContainEqual({ status: 405, message: 'Merge already in progress' })
    expect(both.filter((each) => 'sha' in each)).toHaveLength(1)
  })

  test('while GitHub is still computing mergeability', async () => {
    const it = await openMergeCase()
    github.delayTestMerges(50)
    const message = 'Pull Request is not mergeable'
    expect(await mergeByApi(it)).toEqual({ status: 405, message })
    await github.settled()
    expect(await mergeByApi(it)).toHaveProperty('sha')
  })
})

describe('pattern rules', () => {
  test.each([
    ['commit_message_pattern', { operator: 'starts_with', pattern: 'feat: ' }, 'Commit message must start'],
    ['committer_email_pattern', { operator: 'ends_with', pattern: '@acme.test' }, 'Committer email must end'],
  ])('%s also applies to a pushed merge', async (type, parameters, says) => {
    const it = await openMergeCaseWithRules([{ type, parameters }])
    const { accepted, remote } = await pushMerge(it)
    expect(accepted).toBe(false)
    expect(remote.join('\n')).toContain(says)
    expect(remote).toContain(it.mergeSha)
  })

  test('a branch name pattern rejects temporary branches that do not match', async () => {
    const it = await openMergeCase()
    github.addRules(
      it.full,
      [{ type: 'branch_name_pattern', parameters: { operator: 'regex', pattern: '^(main|release-.*)$' } }],
      { conditions: { ref_name: { include: ['~ALL'] } } },
    )
    expect((await stage(it)).remote).toContain(
      '- Branch name must match a given regex pattern: ^(main|release-.*)$',
    )
  })
})

test('an organization’s ruleset applies to its repositories, is listed with their rules, and cannot contain a merge queue', async () => {
  const it = await openMergeCase()
  const ruleset = github.addOrganizationRules('catalogs', [{ type: 'required_linear_history' }], {
    conditions: { repository_name: { include: [it.name.repo] } },
  })
  try {
    await expectApiRejection(it, 'This branch must not contain merge commits.')
    const { data } = await octokit.rest.repos.getBranchRules({ ...it.name, branch: 'main' })
    expect(data).toMatchObject([{ ruleset_source_type: 'Organization', ruleset_source: 'catalogs' }])
  } finally {
    github.removeOrganizationRules('catalogs', ruleset)
  }
  expect(() => github.addOrganizationRules('catalogs', [createMergeQueueRule()])).toThrow()
})

test('mergeable_state reports blocked, behind, unstable, draft, dirty, clean, and unknown', async () => {
  const it = await openMergeCaseWithRules([
    createStatusChecksRule([{ context: 'ci' }], { strict_required_status_checks_policy: true }),
  ])
  const pullParams = { ...it.name, pull_number: it.pull.number }
  expect((await octokit.rest.pulls.get(pullParams)).data.mergeable_state).toBe('unknown')
  expect(await readPullMergeableState(it)).toBe('blocked')
  await setCiStatus(it, it.headSha)
  expect(await readPullMergeableState(it)).toBe('behind')
  await mergeBaseIntoHead(it)
  await setCiStatus(it, it.pull.headSha)
  expect(await readPullMergeableState(it)).toBe('clean')
  await github.setStatus(it.full, it.pull.headSha, 'bob', { context: 'other', state: 'failure' })
  expect(await readPullMergeableState(it)).toBe('unstable')
  await github.draft(it.pull)
  expect(await readPullMergeableState(it)).toBe('draft')
  await github.pushToBase(it.full, { 'alpha.yaml': 'other\n' })
  expect(await readPullMergeableState(it)).toBe('dirty')
})

describe('a merge of the base into the head', () => {
  const rules = [
    createPullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true }),
  ]

  test('dismisses approvals only if it changes the diff', async () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`)
    const text = (first: string, last: string) => [first, ...lines, last, ''].join('\n')
    const it = await openMergeCaseWithRules(rules, {
      behind: false,
      files: { 'both.txt': text('a', 'z') },
      changes: { 'both.txt': text('A', 'z') },
    })
    const review = github.review(it.pull, 'bob', 'approve')
    await github.pushToBase(it.full, { 'elsewhere.txt': 'x\n' })
    await mergeBaseIntoHead(it)
    expect(review.state).toBe('APPROVED')
    await github.pushToBase(it.full, { 'both.txt': text('a', 'Z') })
    await mergeBaseIntoHead(it)
    expect(review.state).toBe('DISMISSED')
  })
})

describe('leaving the merge queue', () => {
  test.each(dequeueReasons)('for %s', async (reason) => {
    const it = await openMergeCaseWithRules([
      createMergeQueueRule(),
      createStatusChecksRule([{ context: 'ci' }]),
    ])
    await enqueue(it)
    await github.removeFromQueue(it.pull, reason)
    await github.settled()
    const { deliveries } = github.webhooks
    expect(deliveries.findLast(({ action }) => action === 'dequeued')?.payload).toMatchObject({ reason })
  })

  test('because branch protection no longer allows the merge', async () => {
    const it = await openMergeCaseWithRules([
      createMergeQueueRule(),
      createStatusChecksRule([{ context: 'ci' }]),
      approvalRule,
    ])
    github.review(it.pull, 'bob', 'approve')
    await enqueue(it)
    github.review(it.pull, 'carol', 'changes', 'Stop.')
    await github.settled()
    const last = github.webhooks.deliveries.findLast(({ action }) => action === 'dequeued')
    expect(last?.payload).toMatchObject({ reason: 'BRANCH_PROTECTIONS' })
  })

  async function enqueue(it: BranchRulesScenario): Promise<void> {
    await setCiStatus(it, it.headSha)
    const { data } = await octokit.rest.pulls.get({ ...it.name, pull_number: it.pull.number })
    const query = `mutation ($input: EnqueuePullRequestInput!) {
      enqueuePullRequest(input: $input) { mergeQueueEntry { position } }
    }`
    await octokit.graphql(query, { input: { pullRequestId: data.node_id } })
  }
})

describe('Git error messages', () => {
  test('for a locked branch and for a GitHub outage', async () => {
    const it = await openMergeCase()
    const unlock = await github.lockBranch(it.full, 'main')
    expect((await pushMerge(it)).reason).toMatch(/^(?:cannot lock ref|failed to update ref)/)
    await unlock()
    github.fail(({ path }) => path.endsWith('/git-receive-pack'), { status: 503 })
    expect(await pushMerge(it)).toMatchObject({ accepted: false, reason: undefined })
    expect(await pushMerge(it)).toMatchObject({ accepted: true })
  })

  test('for a missing permission', async () => {
    const it = await openMergeCase()
    const reading = await githubFixture.token({ permissions: { contents: 'read' } })
    expect(await push(it, `${it.headSha}:refs/heads/x`, reading)).toMatchObject({
      accepted: false,
      remote: [`Permission to ${it.full}.git denied to catalog-bot[bot].`],
    })
    const none = await githubFixture.token({ permissions: { checks: 'write' } })
    expect((await push(it, `${it.headSha}:refs/heads/x`, none)).remote).toEqual([
      'Write access to repository not granted.',
    ])
  })
})
