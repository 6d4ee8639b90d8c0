import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readOpenApi } from './traffic-validator.ts'
import type { Pull } from '../../../sandbox/github/world.ts'
import { nodeId } from '../../../sandbox/github/views/account-view.ts'
import { checksRule, queueRule } from './branch-rules/landing-ground.ts'
import { events, full, furnish, jwt, name, privateKey } from './sample-world.ts'
import type { Furnished } from './sample-world.ts'

let it: Furnished
afterEach(async () => it.stop())

const open = async (title: string): Promise<Pull> =>
  it.github.openPull({
    repository: full,
    author: 'alice',
    title,
    changes: { [`catalogs/${title}.yaml`]: 'a: 1\n' },
  })
const labels = (): unknown[] =>
  it.receiver.received
    .filter((each) => each.payload['action'] === 'labeled')
    .map((each) => (each.payload['label'] as { name: string }).name)

describe('what happens to deliveries on order', () => {
  let pull: Pull
  beforeEach(async () => {
    it = await furnish()
    pull = await open('one')
    await it.github.settled()
  })
  const label = async (...names: string[]): Promise<void> => {
    for (const each of names) await it.github.label(pull, each)
    await it.github.settled()
  }
  const labeled = (each: { action: string | null }): boolean => each.action === 'labeled'

  test('a dropped one never comes, and can be redelivered under its GUID', async () => {
    const end = it.github.webhooks.drop(labeled)
    await label('a')
    end()
    expect(labels()).toEqual([])
    const { data } = await it.asApp.rest.apps.listWebhookDeliveries({ status: 'failure' })
    expect(data.map((each) => [each.event, each.action, each.status_code])).toEqual([
      ['pull_request', 'labeled', 0],
    ])
    await it.asApp.rest.apps.redeliverWebhookDelivery({ delivery_id: data[0]?.id ?? 0 })
    await it.github.settled()
    expect(labels()).toEqual(['a'])
    expect(it.receiver.received.at(-1)?.headers['x-github-delivery']).toBe(data[0]?.guid)
    const { data: after } = await it.asApp.rest.apps.listWebhookDeliveries({ per_page: 1 })
    expect(after[0]).toMatchObject({ guid: data[0]?.guid, redelivery: true, status_code: 202 })
  })

  test('a doubled one comes twice with one GUID', async () => {
    it.github.webhooks.double(labeled)
    await label('a')
    expect(labels()).toEqual(['a', 'a'])
    expect(
      new Set(it.receiver.received.slice(-2).map((each) => each.headers['x-github-delivery'])).size,
    ).toBe(1)
  })

  test('a held or delayed one comes later', async () => {
    const end = it.github.webhooks.hold(
      (each) => (each.payload['label'] as { name?: string } | undefined)?.name === 'a',
    )
    await label('a', 'b')
    expect(labels()).toEqual(['b'])
    end()
    await it.github.settled()
    expect(labels()).toEqual(['b', 'a'])
    it.github.webhooks.delay(labeled, 20)
    await label('c')
    expect(labels()).toEqual(['b', 'a'])
    await new Promise((resolve) => setTimeout(resolve, 40))
    await it.github.settled()
    expect(labels()).toEqual(['b', 'a', 'c'])
  })

  test('reordered ones come in reverse', async () => {
    it.github.webhooks.reorder(labeled, 3)
    await label('a', 'b')
    expect(labels()).toEqual([])
    await label('c')
    expect([...labels()].sort()).toEqual(['a', 'b', 'c'])
    expect(labels()[0]).toBe('c')
  })

  test('a receiver that fails is noted, and nothing is sent again by itself', async () => {
    it.receiver.status = 500
    await label('a')
    const { data } = await it.asApp.rest.apps.listWebhookDeliveries({ per_page: 1 })
    expect(data[0]).toMatchObject({ status_code: 500, status: 'Invalid HTTP Response: 500' })
    expect(labels()).toEqual(['a'])
  })

  test('deliveries are listed newest first, by cursor', async () => {
    await label('a', 'b', 'c')
    const first = await it.asApp.rest.apps.listWebhookDeliveries({ per_page: 2 })
    const cursor = /cursor=(\d+)/.exec(first.headers.link ?? '')?.[1] ?? ''
    const second = await it.asApp.rest.apps.listWebhookDeliveries({ per_page: 2, cursor })
    const ids = [...first.data, ...second.data].map((each) => each.id)
    expect(ids).toEqual([...ids].sort((one, other) => other - one))
    expect(new Set(ids).size).toBe(4)
  })
})

test('every webhook of the document is sent, in the shape of the document', async () => {
  it = await furnish({ validateTraffic: true })
  const { github, installation } = it
  const pull = await open('one')
  await github.pushToPull(pull, { 'more.yaml': 'b: 1\n' })
  await github.draft(pull)
  await github.draft(pull, false)
  await github.label(pull, 'hold')
  await github.unlabel(pull, 'hold')
  github.setRole(full, 'bob', 'write')
  await it.octokit.rest.pulls.requestReviewers({ ...name, pull_number: pull.number, reviewers: ['bob'] })
  await it.octokit.rest.pulls.removeRequestedReviewers({
    ...name,
    pull_number: pull.number,
    reviewers: ['bob'],
  })
  await github.pushToBase(full, { 'other.txt': 'x' }, { branch: 'next' })
  await github.retarget(pull, 'next')
  await github.close(pull)
  await github.reopen(pull)
  const review = github.review(pull, 'bob', 'approve')
  github.dismiss(pull, review, 'maintainer')
  const comment = github.comment(pull, 'bob', '/hold')
  github.editComment(comment, '/unhold')
  github.deleteComment(comment)
  const issue = github.openIssue(full, 'bob', 'Something is gone')
  github.editIssue(issue, { title: 'Two things are gone', state: 'closed', reason: 'not_planned' })
  github.editIssue(issue, { state: 'open' })
  await github.setStatus(full, pull.headSha, 'bob', { state: 'success', context: 'other' })
  await it.octokit.rest.repos.createCommitComment({ ...name, commit_sha: pull.headSha, body: 'x' })
  const actions = [{ label: 'Again', description: 'Look again', identifier: 'again' }]
  await it.octokit.rest.checks.create({
    ...name,
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
  const group = await github.enqueue([pull])
  await github.dissolve(group, 'invalidated')
  const rules = github.addRules(full, [queueRule(), checksRule([{ context: 'catalog-bot / images' }])], {
    conditions: { ref_name: { include: ['~ALL'] } },
  })
  await github.setStatus(full, pull.headSha, 'bob', { context: 'catalog-bot / images', state: 'success' })
  const mutation = `mutation ($id: ID!) { enqueuePullRequest(input: { pullRequestId: $id }) { clientMutationId } }`
  await it.octokit.graphql(mutation, { id: nodeId('PullRequest', pull.id) })
  await github.removeFromQueue(pull)
  github.removeRuleset(full, rules)
  const ruleset = github.addRules(full, [{ type: 'update' }])
  const admin = it.client(github.tokenFor('maintainer'))
  const body = { name: 'renamed', enforcement: 'active' } as const
  await admin.rest.repos.updateRepoRuleset({ ...name, ruleset_id: ruleset.id, ...body })
  github.removeRuleset(full, ruleset)
  github.protect(full, 'main', { required_linear_history: true })
  github.protect(full, 'main', { required_conversation_resolution: true, enforce_admins: true })
  github.openConversation(pull)
  github.allowAutoMerge(full)
  await github.retarget(pull, 'main')
  await github.enableAutoMerge(pull, 'bob')
  await github.disableAutoMerge(pull, 'bob')
  github.resolveConversation(pull)
  github.protect(full, 'main', null)
  const { data: deployment } = await it.octokit.rest.repos.createDeployment({ ...name, ref: 'main' })
  if (!('id' in deployment)) throw new Error('not deployed')
  const deployed = { ...name, deployment_id: deployment.id, state: 'success' } as const
  await it.octokit.rest.repos.createDeploymentStatus(deployed)
  github.changeDefaultBranch(full, 'next')
  github.changeDefaultBranch(full, 'main')
  github.archive(full)
  github.archive(full, false)
  github.createWorkflow(full, 'rebuild.yml', { milliseconds: 2 })
  await it.octokit.rest.actions.createWorkflowDispatch({ ...name, workflow_id: 'rebuild.yml', ref: 'main' })
  await github.createRepository('catalogs', 'second')
  github.changeInstallation(installation, ['catalogs/second'])
  github.changeInstallation(installation, [], ['catalogs/second'])
  github.setPermissions(installation, { ...installation.permissions })
  github.suspend(installation)
  github.suspend(installation, false)
  github.renameRepository(full, 'renamed')
  github.deleteRepository('catalogs/renamed')
  await github.settled()
  github.uninstall(installation)
  await github.settled()

  expect(github.violations).toEqual([])
  const sent = new Set(
    it.receiver.received.map(({ event, payload }) => {
      const action: unknown = payload['action']
      return typeof action === 'string' ? `${event}.${action}` : event
    }),
  )
  expect(Object.keys(readOpenApi().webhooks).filter((each) => !sent.has(each))).toEqual([])
})

test('an app hears what it subscribed to where it is installed, and of runs asked for again only its own', async () => {
  it = await furnish()
  const { github } = it
  const app = {
    slug: 'other',
    privateKey,
    webhookSecret: 'another',
    permissions: { checks: 'write' } as const,
    events: ['check_run'],
  }
  const other = github.installApp(app, [full])
  await github.createRepository('catalogs', 'elsewhere')
  const pull = await open('one')
  const client = it.client(jwt({ iss: other.app.id }))
  const { data } = await client.rest.apps.createInstallationAccessToken({
    installation_id: other.installations[0]?.id ?? 0,
  })
  await it
    .client(data.token)
    .rest.checks.create({ ...name, name: 'lint', head_sha: pull.headSha, conclusion: 'failure' })
  await github.settled()
  it.receiver.received.length = 0
  const [run] = github.checkRuns(pull)
  if (run === undefined) throw new Error('no run')
  await github.rerun(run, 'bob')
  await github.pushToBase('catalogs/elsewhere', { a: 'b' })
  await github.settled()
  const heard = it.receiver.received.map((each) => [
    each.event,
    each.headers['x-github-hook-installation-target-id'],
  ])
  expect(heard).toEqual([['check_run', String(other.app.id)]])
  expect(events).toContain('check_run')
  await expect(
    it.octokit.rest.checks.update({ ...name, check_run_id: run.id, conclusion: 'success' }),
  ).rejects.toMatchObject({ status: 403 })
})
