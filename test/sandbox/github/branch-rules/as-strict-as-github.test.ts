// What GitHub refuses beyond the table of settings: each rule with its source beside the code that enforces it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { Rule } from '../../../../sandbox/github/branch-rules/rule-shapes.ts'
import { dequeueReasons } from '../../../../sandbox/github/branch-rules/merge-queue.ts'
import { Ground, pullRequestRule, queueRule, ruleMessage, checksRule } from './landing-ground.ts'
import type { Landing, LandingOptions } from './landing-ground.ts'

let ground: Ground
beforeAll(async () => {
  ground = await Ground.furnish()
})
afterAll(async () => ground.it.stop())
afterEach(() => {
  ground.it.github.delayTestMerges(0)
  expect(ground.it.github.violations.splice(0)).toEqual([])
})

const landing = async (rules: readonly Rule[], more?: LandingOptions): Promise<Landing> => {
  const it = await ground.landing(more)
  if (rules.length > 0) ground.it.github.addRules(it.full, rules)
  return it
}
const refused = (...says: string[]) => ({ status: 405, message: ruleMessage(...says) })
const stateOf = async ({ name, pull }: Landing): Promise<string> => {
  const asked = { ...name, pull_number: pull.number }
  await ground.it.octokit.rest.pulls.get(asked)
  await ground.it.github.settled()
  return (await ground.it.octokit.rest.pulls.get(asked)).data.mergeable_state
}
const approval = pullRequestRule({ required_approving_review_count: 1 })
const requested = 'Changes have been requested.'

describe('GitHub’s own merge is blocked', () => {
  test('until each environment has a successful deployment of the head', async () => {
    const rule = {
      type: 'required_deployments',
      parameters: { required_deployment_environments: ['staging', 'test'] },
    }
    const it = await landing([rule])
    const { github } = ground.it
    expect(await ground.mergeByApi(it)).toEqual(
      refused('Missing successful active staging and test deployments.'),
    )
    github.deploy(it.full, it.H, 'staging')
    github.deploy(it.full, it.H, 'test')
    github.deploy(it.full, it.H, 'test', 'failure')
    expect(await ground.mergeByApi(it)).toEqual(refused('Missing successful active test deployment.'))
    github.deploy(it.full, it.H, 'test')
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('until code scanning has seen the head and found nothing', async () => {
    const tools = [{ tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'all' }]
    const it = await landing([{ type: 'code_scanning', parameters: { code_scanning_tools: tools } }])
    const { github } = ground.it
    expect(await ground.mergeByApi(it)).toMatchObject({
      message: expect.stringContaining('Code scanning is waiting for results from CodeQL for the commits'),
    })
    github.analyze(it.full, it.H, 'CodeQL', 2)
    expect(await ground.mergeByApi(it)).toEqual(refused('CodeQL has detected 2 alerts blocking this code.'))
    github.analyze(it.full, it.H, 'CodeQL')
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('until the required workflow passed on the head; a push is never enough', async () => {
    const workflows = [{ path: '.github/workflows/ci.yml', repository_id: 1 }]
    const it = await landing([{ type: 'workflows', parameters: { workflows } }])
    const says = "Required workflow 'ci' is not satisfied"
    await ground.it.github.runWorkflow(it.full, 'ci.yml', it.H, 'failure')
    expect(await ground.mergeByApi(it)).toEqual(refused(says))
    await ground.it.github.runWorkflow(it.full, 'ci.yml', it.H)
    expect((await ground.pushMerge(it)).remote).toContain(`- ${says}`)
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('for a squash of another author’s commits where signatures are required', async () => {
    const it = await landing([{ type: 'required_signatures' }], { signed: true })
    expect(await ground.mergeByApi(it, 'squash')).toEqual(refused('Commits must have verified signatures.'))
    expect(await ground.mergeByApi(it, 'merge')).toHaveProperty('sha')
  })

  test('by requested changes alone, however many others approve', async () => {
    const it = await landing([approval])
    const { github } = ground.it
    github.review(it.pull, 'bob', 'approve')
    const review = github.review(it.pull, 'carol', 'changes', 'No.')
    expect(await ground.mergeByApi(it)).toEqual(refused(requested))
    expect((await ground.pushMerge(it)).remote).toContain(`- ${requested}`)
    github.dismiss(it.pull, review)
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('by a review of the same commit in another pull request', async () => {
    const it = await landing([approval])
    const { github } = ground.it
    await github.pushToBase(it.full, { x: '1' }, { branch: 'release' })
    const twin = await github.openPull({
      repository: it.full,
      author: 'alice',
      title: 'Twin',
      base: 'release',
      commit: it.H,
      branch: 'twin',
    })
    github.review(it.pull, 'bob', 'approve')
    const review = github.review(twin, 'carol', 'changes', 'No.')
    expect(await ground.mergeByApi(it)).toEqual(refused(requested))
    github.dismiss(twin, review)
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('until the team of a required reviewer approves what it looks after', async () => {
    const { github } = ground.it
    const team = github.createTeam('catalogs', `reviewers-${Date.now()}`, ['carol'])
    const reviewer = { id: team.id, type: 'Team' }
    const required_reviewers = [{ minimum_approvals: 1, file_patterns: ['*.yaml'], reviewer }]
    const it = await landing([pullRequestRule({ required_reviewers })])
    github.setTeamRole(it.full, team, 'write')
    github.review(it.pull, 'bob', 'approve')
    expect(await ground.mergeByApi(it)).toEqual(
      refused(`Required reviewer catalogs/${team.slug} must approve.`),
    )
    github.review(it.pull, 'carol', 'approve')
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })

  test('while another merge of it is under way', async () => {
    const it = await landing([])
    const both = await Promise.all([ground.mergeByApi(it), ground.mergeByApi(it)])
    expect(both).toContainEqual({ status: 405, message: 'Merge already in progress' })
    expect(both.filter((each) => 'sha' in each)).toHaveLength(1)
  })

  test('while it is computed whether it can be merged', async () => {
    const it = await landing([])
    ground.it.github.delayTestMerges(50)
    const message = 'Pull Request is not mergeable'
    expect(await ground.mergeByApi(it)).toEqual({ status: 405, message })
    await ground.it.github.settled()
    expect(await ground.mergeByApi(it)).toHaveProperty('sha')
  })
})

describe('rules of names', () => {
  test.each([
    ['commit_message_pattern', { operator: 'starts_with', pattern: 'feat: ' }, 'Commit message must start'],
    ['committer_email_pattern', { operator: 'ends_with', pattern: '@acme.test' }, 'Committer email must end'],
  ])('%s binds the pushed merge, too', async (type, parameters, says) => {
    const it = await landing([{ type, parameters }])
    const { accepted, remote } = await ground.pushMerge(it)
    expect(accepted).toBe(false)
    expect(remote.join('\n')).toContain(says)
    expect(remote).toContain(it.M)
  })

  test('a branch name pattern refuses temporary branches that do not fit', async () => {
    const it = await landing([])
    ground.it.github.addRules(
      it.full,
      [{ type: 'branch_name_pattern', parameters: { operator: 'regex', pattern: '^(main|release-.*)$' } }],
      { conditions: { ref_name: { include: ['~ALL'] } } },
    )
    expect((await ground.stage(it)).remote).toContain(
      '- Branch name must match a given regex pattern: ^(main|release-.*)$',
    )
  })
})

describe('an organization’s ruleset', () => {
  test('binds its repositories beside their own, and is read with them', async () => {
    const it = await landing([])
    const { github, octokit } = ground.it
    const ruleset = github.addOrganizationRules('catalogs', [{ type: 'required_linear_history' }], {
      conditions: { repository_name: { include: [it.name.repo] } },
    })
    try {
      expect(await ground.mergeByApi(it)).toEqual(refused('This branch must not contain merge commits.'))
      const { data } = await octokit.rest.repos.getBranchRules({ ...it.name, branch: 'main' })
      expect(data).toMatchObject([{ ruleset_source_type: 'Organization', ruleset_source: 'catalogs' }])
    } finally {
      github.removeOrganizationRules('catalogs', ruleset)
    }
    expect(() => github.addOrganizationRules('catalogs', [queueRule()])).toThrow()
  })
})

describe('mergeable_state', () => {
  test('blocked, behind, unstable, draft, dirty, clean and unknown', async () => {
    const { github, octokit } = ground.it
    const it = await landing([
      checksRule([{ context: 'ci' }], { strict_required_status_checks_policy: true }),
    ])
    const asked = { ...it.name, pull_number: it.pull.number }
    expect((await octokit.rest.pulls.get(asked)).data.mergeable_state).toBe('unknown')
    expect(await stateOf(it)).toBe('blocked')
    await github.setStatus(it.full, it.H, 'bob', { context: 'ci', state: 'success' })
    expect(await stateOf(it)).toBe('behind')
    await github.updateBranch(it.pull, 'alice')
    await github.setStatus(it.full, it.pull.headSha, 'bob', { context: 'ci', state: 'success' })
    expect(await stateOf(it)).toBe('clean')
    await github.setStatus(it.full, it.pull.headSha, 'bob', { context: 'other', state: 'failure' })
    expect(await stateOf(it)).toBe('unstable')
    await github.draft(it.pull)
    expect(await stateOf(it)).toBe('draft')
    await github.pushToBase(it.full, { 'alpha.yaml': 'other\n' })
    expect(await stateOf(it)).toBe('dirty')
  })
})

describe('Update branch', () => {
  const rules = [pullRequestRule({ required_approving_review_count: 1, dismiss_stale_reviews_on_push: true })]

  test('dismisses approvals when it changes the diff, and only then', async () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`)
    const text = (first: string, last: string) => [first, ...lines, last, ''].join('\n')
    const it = await landing(rules, {
      behind: false,
      files: { 'both.txt': text('a', 'z') },
      changes: { 'both.txt': text('A', 'z') },
    })
    const { github } = ground.it
    const review = github.review(it.pull, 'bob', 'approve')
    await github.pushToBase(it.full, { 'elsewhere.txt': 'x\n' })
    await github.updateBranch(it.pull, 'alice')
    expect(review.state).toBe('APPROVED')
    await github.pushToBase(it.full, { 'both.txt': text('a', 'Z') })
    await github.updateBranch(it.pull, 'alice')
    expect(review.state).toBe('DISMISSED')
  })

  test('is the author’s to allow', async () => {
    const it = await landing([], { maintainerCanModify: false })
    const { octokit } = ground.it
    const asked = { ...it.name, pull_number: it.pull.number }
    expect((await octokit.rest.pulls.get(asked)).data.maintainer_can_modify).toBe(false)
    expect(await ground.ask(octokit.rest.pulls.updateBranch(asked))).toEqual({
      status: 422,
      message: "user doesn't have permission to update head repository",
    })
  })
})

describe('auto-merge', () => {
  test('merges when the last requirement is met, and not while it is not', async () => {
    const it = await landing([approval])
    const { github } = ground.it
    await expect(github.enableAutoMerge(it.pull, 'bob')).rejects.toThrow(/Auto merge is not allowed/)
    github.allowAutoMerge(it.full)
    await github.enableAutoMerge(it.pull, 'bob', 'squash')
    await github.settled()
    expect(it.pull).toMatchObject({ merged: null, autoMerge: { method: 'squash' } })
    github.review(it.pull, 'carol', 'approve')
    await github.settled()
    expect(it.pull).toMatchObject({ state: 'closed', merged: { by: { login: 'bob' } } })
  })

  test('ends when a person without write access pushes', async () => {
    const it = await landing([approval])
    const { github } = ground.it
    github.allowAutoMerge(it.full)
    await github.enableAutoMerge(it.pull, 'bob')
    await github.pushToPull(it.pull, { 'more.txt': 'x' })
    expect(it.pull.autoMerge).toBeNull()
  })

  test('is refused where it could be merged at once', async () => {
    const it = await landing([])
    ground.it.github.allowAutoMerge(it.full)
    await expect(ground.it.github.enableAutoMerge(it.pull, 'bob')).rejects.toThrow(
      'Pull request Pull request is in clean status',
    )
  })
})

describe('leaving the merge queue', () => {
  test.each(dequeueReasons)('for %s', async (reason) => {
    const it = await landing([queueRule(), checksRule([{ context: 'ci' }])])
    await enqueue(it)
    await ground.it.github.removeFromQueue(it.pull, reason)
    await ground.it.github.settled()
    const { deliveries } = ground.it.github.webhooks
    expect(deliveries.findLast(({ action }) => action === 'dequeued')?.payload).toMatchObject({ reason })
  })

  test('because the branch does not take it any more', async () => {
    const it = await landing([queueRule(), checksRule([{ context: 'ci' }]), approval])
    const { github } = ground.it
    github.review(it.pull, 'bob', 'approve')
    await enqueue(it)
    github.review(it.pull, 'carol', 'changes', 'Stop.')
    await github.settled()
    const last = github.webhooks.deliveries.findLast(({ action }) => action === 'dequeued')
    expect(last?.payload).toMatchObject({ reason: 'BRANCH_PROTECTIONS' })
  })

  async function enqueue(it: Landing): Promise<void> {
    await ground.it.github.setStatus(it.full, it.H, 'bob', { context: 'ci', state: 'success' })
    const { data } = await ground.it.octokit.rest.pulls.get({ ...it.name, pull_number: it.pull.number })
    const query = `mutation ($input: EnqueuePullRequestInput!) {
      enqueuePullRequest(input: $input) { mergeQueueEntry { position } }
    }`
    await ground.it.octokit.graphql(query, { input: { pullRequestId: data.node_id } })
  }
})

describe('a renamed branch', () => {
  test('takes its pull requests and its protection along', async () => {
    const it = await landing([])
    const { github } = ground.it
    github.protect(it.full, 'main', { required_linear_history: true })
    const admin = ground.it.client(github.tokenFor('maintainer'))
    await admin.rest.repos.renameBranch({ ...it.name, branch: 'main', new_name: 'trunk' })
    const repo = github.repository(it.full)
    expect(repo.defaultBranch).toBe('trunk')
    expect([...repo.protections.keys()]).toEqual(['trunk'])
    expect(it.pull).toMatchObject({ baseRef: 'trunk', state: 'open' })
  })
})

describe('git’s words', () => {
  test('for a branch that is locked, and for a GitHub that is down', async () => {
    const it = await landing([])
    const { github } = ground.it
    const unlock = await github.lockBranch(it.full, 'main')
    expect((await ground.pushMerge(it)).reason).toMatch(/^(?:cannot lock ref|failed to update ref)/)
    await unlock()
    github.fail(({ path }) => path.endsWith('/git-receive-pack'), { status: 503 })
    expect(await ground.pushMerge(it)).toMatchObject({ accepted: false, reason: undefined })
    expect(await ground.pushMerge(it)).toMatchObject({ accepted: true })
  })

  test('for a missing permission', async () => {
    const it = await landing([])
    const reading = await ground.it.token({ permissions: { contents: 'read' } })
    expect(await ground.push(it, `${it.H}:refs/heads/x`, reading)).toMatchObject({
      accepted: false,
      remote: [`Permission to ${it.full}.git denied to catalog-bot[bot].`],
    })
    const none = await ground.it.token({ permissions: { checks: 'write' } })
    expect((await ground.push(it, `${it.H}:refs/heads/x`, none)).remote).toEqual([
      'Write access to repository not granted.',
    ])
  })
})
