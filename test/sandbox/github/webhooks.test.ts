import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readOpenApiDocument } from './openapi-schemas.ts'
import type { MockPull } from '../../../sandbox/github/github-data.ts'
import { toNodeId } from '../../../sandbox/github/views/account-view.ts'
import { createStatusChecksRule, createMergeQueueRule } from './branch-rules/merge-rules-fixture.ts'
import {
  appWebhookEvents,
  fullRepositoryName,
  startGitHubFixture,
  signJwt,
  repo,
  privateKey,
  createPullOptions,
} from './github-fixture.ts'
import type { GitHubFixture } from './github-fixture.ts'

let fixture: GitHubFixture
afterEach(async () => fixture.stop())

const openPullRequest = async (title: string): Promise<MockPull> =>
  fixture.github.openPull(createPullOptions(title, { [`catalogs/${title}.yaml`]: 'a: 1\n' }))
const listLabelsFromWebhooks = (): unknown[] =>
  fixture.receiver.received
    .filter((each) => each.payload['action'] === 'labeled')
    .map((each) => (each.payload['label'] as { name: string }).name)

describe('configured delivery faults', () => {
  let pull: MockPull
  beforeEach(async () => {
    fixture = await startGitHubFixture()
    pull = await openPullRequest('one')
    await fixture.github.settled()
  })
  const label = async (...names: string[]): Promise<void> => {
    for (const each of names) await fixture.github.label(pull, each)
    await fixture.github.settled()
  }
  const labeled = (each: { action: string | null }): boolean => each.action === 'labeled'

  test('a dropped delivery never arrives, and is listed as failed', async () => {
    const end = fixture.github.webhooks.drop(labeled)
    await label('a')
    end()
    expect(listLabelsFromWebhooks()).toEqual([])
    const { data } = await fixture.asApp.rest.apps.listWebhookDeliveries({ status: 'failure' })
    expect(data.map((each) => [each.event, each.action, each.status_code])).toEqual([
      ['pull_request', 'labeled', 0],
    ])
  })

  test('a duplicated delivery arrives twice with the same GUID', async () => {
    fixture.github.webhooks.double(labeled)
    await label('a')
    expect(listLabelsFromWebhooks()).toEqual(['a', 'a'])
    expect(
      new Set(fixture.receiver.received.slice(-2).map((each) => each.headers['x-github-delivery'])).size,
    ).toBe(1)
  })

  test('a held delivery arrives later', async () => {
    const end = fixture.github.webhooks.hold(
      (each) => (each.payload['label'] as { name?: string } | undefined)?.name === 'a',
    )
    await label('a', 'b')
    expect(listLabelsFromWebhooks()).toEqual(['b'])
    end()
    await fixture.github.settled()
    expect(listLabelsFromWebhooks()).toEqual(['b', 'a'])
  })

  test('the failure of a receiver is recorded, and nothing is redelivered automatically', async () => {
    fixture.receiver.status = 500
    await label('a')
    const { data } = await fixture.asApp.rest.apps.listWebhookDeliveries({ per_page: 1 })
    expect(data[0]).toMatchObject({ status_code: 500, status: 'Invalid HTTP Response: 500' })
    expect(listLabelsFromWebhooks()).toEqual(['a'])
  })

  test('deliveries are listed newest first, by cursor', async () => {
    await label('a', 'b', 'c')
    const first = await fixture.asApp.rest.apps.listWebhookDeliveries({ per_page: 2 })
    const cursor = /cursor=(\d+)/.exec(first.headers.link ?? '')?.[1] ?? ''
    const second = await fixture.asApp.rest.apps.listWebhookDeliveries({ per_page: 2, cursor })
    const ids = [...first.data, ...second.data].map((each) => each.id)
    expect(ids).toEqual([...ids].sort((one, other) => other - one))
    expect(new Set(ids).size).toBe(4)
  })
})

test('every webhook of the OpenAPI document is sent, in its documented shape', async () => {
  fixture = await startGitHubFixture({ validateTraffic: true })
  const { github, installation } = fixture
  const pull = await openPullRequest('one')
  await github.pushToPull(pull, { 'more.yaml': 'b: 1\n' })
  await github.draft(pull)
  await github.draft(pull, false)
  await github.label(pull, 'hold')
  await github.unlabel(pull, 'hold')
  github.setRole(fullRepositoryName, 'bob', 'write')
  await fixture.octokit.rest.pulls.requestReviewers({ ...repo, pull_number: pull.number, reviewers: ['bob'] })
  await github.pushToBase(fullRepositoryName, { 'other.txt': 'x' }, { branch: 'next' })
  await github.retarget(pull, 'next')
  await github.close(pull)
  await github.reopen(pull)
  const review = github.review(pull, 'bob', 'approve')
  github.dismiss(pull, review, 'maintainer')
  const comment = github.comment(pull, 'bob', '/hold')
  github.editComment(comment, '/unhold')
  github.deleteComment(comment)
  const issue = github.openIssue(fullRepositoryName, 'bob', 'Something is gone')
  github.editIssue(issue, { title: 'Two things are gone', state: 'closed', reason: 'not_planned' })
  github.editIssue(issue, { state: 'open' })
  await github.setStatus(fullRepositoryName, pull.headSha, 'bob', { state: 'success', context: 'other' })
  const actions = [{ label: 'Again', description: 'Look again', identifier: 'again' }]
  await fixture.octokit.rest.checks.create({
    ...repo,
    name: 'validation',
    head_sha: pull.headSha,
    conclusion: 'success',
    actions,
  })
  const [run] = github.checkRuns(pull)
  if (run === undefined) throw new Error('no run')
  await github.rerun(run, 'bob')
  await github.rerun(run, 'bob', 'again')
  await github.rerunSuite(run.suite, 'bob')
  const rules = github.addRules(
    fullRepositoryName,
    [createMergeQueueRule(), createStatusChecksRule([{ context: 'catalog-bot / images' }])],
    { conditions: { ref_name: { include: ['~ALL'] } } },
  )
  await github.setStatus(fullRepositoryName, pull.headSha, 'bob', {
    context: 'catalog-bot / images',
    state: 'success',
  })
  const mutation = `mutation ($id: ID!) { enqueuePullRequest(input: { pullRequestId: $id }) { clientMutationId } }`
  await fixture.octokit.graphql(mutation, { id: toNodeId('PullRequest', pull.id) })
  await github.removeFromQueue(pull)
  github.removeRuleset(fullRepositoryName, rules)
  github.protect(fullRepositoryName, 'main', { required_linear_history: true })
  github.protect(fullRepositoryName, 'main', { required_conversation_resolution: true, enforce_admins: true })
  github.openConversation(pull)
  github.resolveConversation(pull)
  github.protect(fullRepositoryName, 'main', null)
  const { data: deployment } = await fixture.octokit.rest.repos.createDeployment({ ...repo, ref: 'main' })
  if (!('id' in deployment)) throw new Error('not deployed')
  const deployed = { ...repo, deployment_id: deployment.id, state: 'success' } as const
  await fixture.octokit.rest.repos.createDeploymentStatus(deployed)
  github.archive(fullRepositoryName)
  github.archive(fullRepositoryName, false)
  github.createWorkflow(fullRepositoryName, 'rebuild.yml', { milliseconds: 2 })
  await fixture.octokit.rest.actions.createWorkflowDispatch({
    ...repo,
    workflow_id: 'rebuild.yml',
    ref: 'main',
  })
  await github.createRepository('catalogs', 'second')
  github.changeInstallation(installation, ['catalogs/second'])
  github.changeInstallation(installation, [], ['catalogs/second'])
  github.setPermissions(installation, { ...installation.permissions })
  github.suspend(installation)
  github.suspend(installation, false)
  await github.settled()
  github.uninstall(installation)
  await github.settled()

  expect(github.violations).toEqual([])
  const sent = new Set(
    fixture.receiver.received.map(({ event, payload }) => {
      const action: unknown = payload['action']
      return typeof action === 'string' ? `${event}.${action}` : event
    }),
  )
  expect(Object.keys(readOpenApiDocument().webhooks).filter((each) => !sent.has(each))).toEqual([])
})

test('an app receives subscribed events where it is installed, and reruns only of its check runs', async () => {
  fixture = await startGitHubFixture()
  const { github } = fixture
  const app = {
    slug: 'other',
    privateKey,
    webhookSecret: 'another',
    permissions: { checks: 'write' } as const,
    events: ['check_run'],
  }
  const other = github.installApp(app, [fullRepositoryName])
  await github.createRepository('catalogs', 'elsewhere')
  const pull = await openPullRequest('one')
  const client = fixture.client(signJwt({ iss: other.app.id }))
  const { data } = await client.rest.apps.createInstallationAccessToken({
    installation_id: other.installations[0]?.id ?? 0,
  })
  await fixture
    .client(data.token)
    .rest.checks.create({ ...repo, name: 'lint', head_sha: pull.headSha, conclusion: 'failure' })
  await github.settled()
  fixture.receiver.received.length = 0
  const [run] = github.checkRuns(pull)
  if (run === undefined) throw new Error('no run')
  await github.rerun(run, 'bob')
  await github.pushToBase('catalogs/elsewhere', { a: 'b' })
  await github.settled()
  const heard = fixture.receiver.received.map((each) => [
    each.event,
    each.headers['x-github-hook-installation-target-id'],
  ])
  expect(heard).toEqual([['check_run', String(other.app.id)]])
  expect(appWebhookEvents).toContain('check_run')
  await expect(
    fixture.octokit.rest.checks.update({ ...repo, check_run_id: run.id, conclusion: 'success' }),
  ).rejects.toMatchObject({ status: 403 })
})
