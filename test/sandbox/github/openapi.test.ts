// One long scenario that calls every operation of the sandbox and compares each request and response with GitHub's own
// OpenAPI document.
import { afterAll, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { readOpenApiDocument } from './openapi-schemas.ts'
import { getTrafficValidator } from './traffic-validator.ts'
import type { RecordedHttpExchange } from '../../../sandbox/github/http/router.ts'
import { fullRepositoryName, startGitHubFixture, repo, createPullOptions } from './github-fixture.ts'

const githubFixture = await startGitHubFixture({ validateTraffic: true })
const { github } = githubFixture
github.createTeam('catalogs', 'reviewers', ['alice', 'bob'])
const team = github.createTeam('catalogs', 'pushers', ['bob'])
github.setTeamRole(fullRepositoryName, team, 'write')
github.setRole(fullRepositoryName, 'alice', 'triage')
github.createWorkflow(fullRepositoryName, 'rebuild.yml', {
  dispatchTypes: ['catalog-changed'],
  milliseconds: 2,
})
github.addRules(fullRepositoryName, [{ type: 'non_fast_forward' }])
const mockPull = await github.openPull(
  createPullOptions('Alpha', { 'catalogs/v4.18/alpha/catalog.yaml': 'new: 1\n' }),
)
github.comment(mockPull, 'bob', 'Looks good')
github.review(mockPull, 'bob', 'approve', 'Yes')
afterAll(async () => githubFixture.stop())

test('every operation responds as the OpenAPI document specifies', async () => {
  const { rest } = githubFixture.octokit
  const { asApp } = githubFixture
  const number = mockPull.number
  const issue = { ...repo, issue_number: number }
  const request = { ...repo, pull_number: number }
  const sha = mockPull.headSha

  // The app and its installation.
  await asApp.rest.apps.getAuthenticated()
  await asApp.rest.apps.listInstallations({ per_page: 1 })
  await asApp.rest.apps.getRepoInstallation(repo)
  await githubFixture.token({ permissions: { contents: 'read' }, repositoryNames: ['community'] })
  await rest.apps.listReposAccessibleToInstallation()
  await rest.rateLimit.get()
  const code = githubFixture.github.acceptManifest({
    slug: 'second',
    events: ['push'],
    permissions: { contents: 'read' },
  })
  await rest.apps.createFromManifest({ code })
  await githubFixture.github.settled()
  await asApp.rest.apps.listWebhookDeliveries({ per_page: 5 })

  // Users.
  await rest.users.getByUsername({ username: 'alice' })
  await githubFixture.client(githubFixture.github.tokenFor('alice')).rest.users.getAuthenticated()
  await rest.teams.getMembershipForUserInOrg({ org: 'catalogs', team_slug: 'reviewers', username: 'alice' })
  await rest.teams.getByName({ org: 'catalogs', team_slug: 'reviewers' })
  await rest.repos.getCollaboratorPermissionLevel({ ...repo, username: 'bob' })

  // Repository and git data.
  await rest.repos.get(repo)
  await rest.repos.listBranches(repo)
  await rest.repos.getBranch({ ...repo, branch: 'main' })
  await rest.repos.getBranchRules({ ...repo, branch: 'main' })
  await rest.repos.getContent({ ...repo, path: 'README.md' })
  await rest.repos.getContent({ ...repo, path: 'catalogs/v4.18' })
  await rest.repos.getContent({ ...repo, path: '' })
  const { data: main } = await rest.git.getRef({ ...repo, ref: 'heads/main' })
  await rest.git.listMatchingRefs({ ...repo, ref: 'heads/' })
  const { data: commit } = await rest.git.getCommit({ ...repo, commit_sha: sha })
  const { data: blob } = await rest.git.createBlob({ ...repo, content: 'bmV3Cg==', encoding: 'base64' })
  await rest.git.createTree({
    ...repo,
    base_tree: commit.tree.sha,
    tree: [{ path: 'a/new.txt', mode: '100644', type: 'blob', sha: blob.sha }],
  })
  await rest.git.createCommit({ ...repo, message: 'Again', tree: commit.tree.sha, parents: [sha] })
  await rest.git.createRef({ ...repo, ref: 'refs/heads/topic/one', sha: main.object.sha })
  await rest.git.updateRef({ ...repo, ref: 'heads/topic/one', sha })
  await rest.checks.listForRef({ ...repo, ref: 'topic/one' })
  await rest.pulls.create({
    ...repo,
    title: 'From a branch',
    head: 'topic/one',
    base: 'main',
    body: 'Words',
    draft: true,
  })
  await rest.git.deleteRef({ ...repo, ref: 'heads/topic/one' })

  // Rules, as an administrator sets them and as the app reads them.
  const admin = githubFixture.client(githubFixture.github.tokenFor('maintainer')).rest.repos
  const protection = { ...repo, branch: 'main' }
  githubFixture.github.protect(fullRepositoryName, 'main', {
    required_status_checks: {
      strict: true,
      checks: [{ context: 'catalog-bot / images', app_id: githubFixture.app.id }],
    },
    enforce_admins: false,
    required_pull_request_reviews: {
      required_approving_review_count: 1,
      bypass_pull_request_allowances: { users: ['alice'], teams: ['pushers'], apps: ['catalog-bot'] },
    },
    restrictions: { users: ['bob'], teams: ['pushers'], apps: ['catalog-bot'] },
    required_signatures: true,
  })
  await admin.getBranchProtection(protection)
  await rest.repos.getBranch(protection)
  githubFixture.github.protect(fullRepositoryName, 'main', null)
  const { data: ruleset } = await admin.createRepoRuleset({
    ...repo,
    name: 'Only the bot merges',
    enforcement: 'active',
    conditions: { ref_name: { include: ['~DEFAULT_BRANCH'], exclude: [] } },
    bypass_actors: [{ actor_type: 'Integration', actor_id: githubFixture.app.id, bypass_mode: 'always' }],
    rules: [{ type: 'update' }],
  })
  const kept = { ...repo, ruleset_id: ruleset.id }
  await rest.repos.getRepoRulesets(repo)
  await rest.repos.getRepoRuleset(kept)
  await rest.repos.getBranchRules(protection)
  await admin.deleteRepoRuleset(kept)

  // The pull request.
  await rest.pulls.list({ ...repo, state: 'all', sort: 'updated', direction: 'desc', per_page: 100 })
  await rest.pulls.get(request)
  await rest.pulls.update({ ...request, title: 'Alpha, again' })
  await rest.pulls.listFiles(request)
  await expect(rest.pulls.checkIfMerged(request)).rejects.toMatchObject({ status: 404 })
  await rest.repos.listPullRequestsAssociatedWithCommit({ ...repo, commit_sha: sha })
  await rest.pulls.listReviews(request)
  await rest.pulls.createReview({ ...request, event: 'COMMENT', body: 'Hm' })
  const { data: files } = await rest.pulls.listFiles(request)
  await rest.pulls.createReview({
    ...{ ...request, event: 'COMMENT' },
    comments: [{ path: files[0]?.filename ?? '', line: 1, side: 'RIGHT', body: 'Better so' }],
  })
  const { data: remarks } = await rest.pulls.listReviewComments(request)
  const remark = { ...repo, comment_id: remarks[0]?.id ?? 0 }
  await rest.pulls.updateReviewComment({ ...remark, body: 'Better so, after all' })
  await rest.pulls.deleteReviewComment(remark)
  await rest.pulls.requestReviewers({ ...request, reviewers: ['bob'], team_reviewers: ['pushers'] })

  // Issues.
  const { data: opened } = await rest.issues.create({ ...repo, title: 'Something is gone', body: 'Words' })
  const its = { ...repo, issue_number: opened.number }
  await rest.issues.update({ ...its, title: 'Two things are gone', body: 'More words' })
  await rest.issues.createComment({ ...its, body: 'All is well' })
  await rest.issues.update({ ...its, state: 'closed', state_reason: 'completed' })
  await rest.issues.update({ ...its, state: 'open' })
  await rest.issues.get(its)
  const { data: own } = await rest.issues.listForRepo({ ...repo, creator: 'catalog-bot[bot]', state: 'all' })
  expect(own.map((each) => [each.number, each.title, each.state])).toContainEqual([
    opened.number,
    'Two things are gone',
    'open',
  ])

  // The issue side of the pull request.
  await rest.issues.get(issue)
  const { data: comment } = await rest.issues.createComment({ ...issue, body: 'Hello' })
  const one = { ...repo, comment_id: comment.id }
  await rest.issues.listComments({ ...issue, per_page: 100 })
  await rest.issues.getComment(one)
  await rest.issues.updateComment({ ...one, body: 'Hello again' })
  await rest.reactions.createForIssueComment({ ...one, content: 'eyes' })
  await rest.issues.deleteComment(one)

  // Deployments.
  const deployed = await rest.repos.createDeployment({
    ...repo,
    ref: sha,
    environment: 'catalog v4.18',
    auto_merge: false,
    required_contexts: [],
  })
  const deployment_id = 'id' in deployed.data ? deployed.data.id : 0
  await rest.repos.createDeploymentStatus({ ...repo, deployment_id, state: 'success', description: 'Done' })
  await rest.repos.listDeploymentStatuses({ ...repo, deployment_id })
  await rest.repos.listDeployments({ ...repo, sha, environment: 'catalog v4.18' })

  // Checks and statuses.
  const annotations = [
    { path: 'README.md', start_line: 1, end_line: 1, annotation_level: 'failure' as const, message: 'no' },
  ]
  const output = { title: 'Not well', summary: 'One problem', annotations }
  const { data: run } = await rest.checks.create({
    ...repo,
    name: 'catalog-bot / validation',
    head_sha: sha,
    status: 'in_progress',
    output,
  })
  const check = { ...repo, check_run_id: run.id }
  await rest.checks.update({ ...check, conclusion: 'failure', output: { title: 'Bad', summary: 'x' } })
  await rest.checks.get(check)
  await rest.checks.listForRef({ ...repo, ref: sha, filter: 'all' })
  await rest.repos.createCommitStatus({
    ...repo,
    sha,
    state: 'pending',
    context: 'ci',
    description: 'Waiting',
  })
  await rest.repos.getCombinedStatusForRef({ ...repo, ref: sha })

  // Workflows.
  const workflow = { ...repo, workflow_id: 'rebuild.yml' }
  await rest.actions.createWorkflowDispatch({ ...workflow, ref: 'main', inputs: { catalogs: 'v4.18' } })
  await rest.repos.createDispatchEvent({
    ...repo,
    event_type: 'catalog-changed',
    client_payload: { catalogs: ['v4.18'] },
  })
  await githubFixture.github.settled()
  const { data: runs } = await rest.actions.listWorkflowRunsForRepo(repo)
  expect(runs.workflow_runs.map((each) => [each.event, each.conclusion])).toEqual([
    ['repository_dispatch', 'success'],
    ['workflow_dispatch', 'success'],
  ])

  // Operations that must come last.
  await rest.pulls.merge({ ...request, sha })
  await rest.pulls.checkIfMerged(request)
  await rest.apps.getBySlug({ app_slug: githubFixture.app.slug })

  expect(githubFixture.github.violations).toEqual([])
  const answered = new Set(
    githubFixture.github.requests
      .filter((each) => each.status < 300)
      .map((each) => `${each.method} ${each.template}`),
  )
  expect(Object.keys(readOpenApiDocument().operations).filter((each) => !answered.has(each))).toEqual([])
})

test('the validator finds invalid requests and invalid responses', () => {
  const validator = getTrafficValidator()
  const validate = (it: RecordedHttpExchange): string[] => validator.checkExchange(it)
  const exchange = {
    method: 'POST',
    template: '/repos/{owner}/{repo}/issues/{issue_number}/comments',
    query: new URLSearchParams(),
  }
  const wrong = validate({
    ...exchange,
    requestBody: { body: 7, boddy: '' },
    status: 201,
    responseBody: { id: 'x' },
  }).join('\n')
  expect(wrong).toContain('request: /body must be string')
  expect(wrong).toContain('request: no field boddy')
  expect(wrong).toContain("201: / must have required property 'node_id'")
  expect(
    validate({
      ...exchange,
      query: new URLSearchParams('sort=up'),
      requestBody: { body: '' },
      status: 404,
      responseBody: {},
    }),
  ).toEqual(['POST /repos/{owner}/{repo}/issues/{issue_number}/comments: no query parameter sort'])
})

test('the committed extract stays small', () => {
  const path = new URL('github-openapi.json', import.meta.url)
  expect(readFileSync(path).length).toBeLessThan(1_500_000)
})
