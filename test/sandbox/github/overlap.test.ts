// The same claims about two independent imitations of GitHub: our sandbox and the `emulate` package. What they agree on
// isn't invented. Other tests cover what emulate 0.12 doesn't do: a check run's app, the number at the top of pull
// request webhooks, and rejecting a pull request from a branch that doesn't exist.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Octokit } from '@octokit/rest'
import { createHmac } from 'node:crypto'
import { createEmulator } from 'emulate'
import { generatePrivateKey } from '../../../sandbox/github/github-admin.ts'
import {
  allAppPermissions,
  appWebhookEvents,
  fullRepositoryName,
  startGitHubFixture,
  signJwt,
  repo,
  webhookSecret,
  startWebhookReceiver,
} from './github-fixture.ts'
import type { WebhookReceiver } from './github-fixture.ts'
import { findFreePort } from '../../../scripts/free-port.ts'

interface GitHubServerUnderTest {
  readonly url: string
  readonly appId: number
  readonly installation: number
  readonly key: string
  readonly receiver: WebhookReceiver
  /** Makes a branch from main with one file. */
  branch(branch: string, path: string, content: string): Promise<void>
  settled(): Promise<void>
  stop(): Promise<void>
}

async function startMockGitHubServer(): Promise<GitHubServerUnderTest> {
  const furnished = await startGitHubFixture()
  const { github, app, installation, receiver } = furnished
  return {
    url: github.url,
    appId: app.id,
    installation: installation.id,
    key: app.privateKey,
    receiver,
    branch: async (branch, path, content) =>
      void (await github.pushToBase(fullRepositoryName, { [path]: content }, { branch })),
    settled: async () => github.settled(),
    stop: async () => furnished.stop(),
  }
}

async function startGitHubEmulator(): Promise<GitHubServerUnderTest> {
  const receiver = await startWebhookReceiver()
  const app = {
    app_id: 4711,
    slug: 'catalog-bot',
    name: 'catalog-bot',
    permissions: allAppPermissions,
    events: appWebhookEvents,
    webhook_url: receiver.url,
    webhook_secret: webhookSecret,
    installations: [{ installation_id: 100, account: repo.owner, repository_selection: 'all' }],
  }
  const emulate = await createEmulator({
    service: 'github',
    port: await findFreePort(),
    seed: {
      tokens: { 'a-person': { login: 'maintainer', scopes: ['repo'] } },
      github: {
        users: [{ login: 'maintainer' }],
        orgs: [{ login: repo.owner, members: [{ login: 'maintainer', role: 'admin' }] }],
        repos: [{ owner: repo.owner, name: repo.repo, auto_init: true }],
        apps: [app],
      },
    },
  })
  const key = emulate.generatedSecrets.find((each) => each.kind === 'github.app_private_key')?.value ?? ''
  const person = new Octokit({ baseUrl: emulate.url, auth: 'a-person' })
  return {
    url: emulate.url,
    appId: app.app_id,
    installation: 100,
    key,
    receiver,
    branch: async (branch, path, content) => {
      const { data } = await person.rest.git.getRef({ ...repo, ref: 'heads/main' })
      await person.rest.git.createRef({ ...repo, ref: `refs/heads/${branch}`, sha: data.object.sha })
      const file = { path, message: 'Change', content: Buffer.from(content).toString('base64'), branch }
      await person.rest.repos.createOrUpdateFileContents({ ...repo, ...file })
    },
    // emulate sends its webhooks before it responds, or soon after.
    settled: () => new Promise((resolve) => setTimeout(resolve, 100)),
    stop: async () => {
      await emulate.close()
      await receiver.close()
    },
  }
}

describe.each([
  ['the sandbox', startMockGitHubServer],
  ['emulate', startGitHubEmulator],
])('%s', (_, start) => {
  let it: GitHubServerUnderTest
  let octokit: Octokit
  let number: number
  let sha: string
  const quiet = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  }
  const client = (auth: string): Octokit => new Octokit({ baseUrl: it.url, auth, log: quiet })

  beforeAll(async () => {
    it = await start()
    const app = client(signJwt({ iss: it.appId }, it.key))
    const { data } = await app.rest.apps.createInstallationAccessToken({ installation_id: it.installation })
    octokit = client(data.token)
    await it.branch('topic', 'catalog.yaml', 'schema: olm.package\n')
    const { data: pull } = await octokit.rest.pulls.create({
      ...repo,
      title: 'Alpha',
      head: 'topic',
      base: 'main',
      body: 'Words',
    })
    number = pull.number
    sha = pull.head.sha
  })
  afterAll(async () => it.stop())

  test('an app signs in by JWT, and is rejected with another key', async () => {
    const { data } = await client(signJwt({ iss: it.appId }, it.key)).rest.apps.getAuthenticated()
    expect(data).toMatchObject({ id: it.appId, slug: 'catalog-bot' })
    await expect(
      client(signJwt({ iss: it.appId }, generatePrivateKey())).rest.apps.getAuthenticated(),
    ).rejects.toMatchObject({ status: 401 })
  })

  test('an installation token is a ghs_ token that expires in an hour', async () => {
    const app = client(signJwt({ iss: it.appId }, it.key))
    const { data } = await app.rest.apps.createInstallationAccessToken({
      installation_id: it.installation,
      permissions: { contents: 'read' },
    })
    expect(data.token).toMatch(/^ghs_/)
    expect(Date.parse(data.expires_at) - Date.now()).toBeGreaterThan(3_500_000)
    expect(data.permissions).toMatchObject({ contents: 'read' })
    const reader = client(data.token)
    const comment = reader.rest.issues.createComment({ ...repo, issue_number: number, body: 'x' })
    await expect(comment).rejects.toMatchObject({ status: 403 })
  })

  test('a pull request is read as it was opened', async () => {
    const { data } = await octokit.rest.pulls.get({ ...repo, pull_number: number })
    expect(data).toMatchObject({
      number,
      state: 'open',
      title: 'Alpha',
      body: 'Words',
      draft: false,
      merged: false,
      user: { login: 'catalog-bot[bot]', type: 'Bot' },
      head: { ref: 'topic', sha, repo: { full_name: fullRepositoryName } },
      base: { ref: 'main', repo: { full_name: fullRepositoryName } },
    })
    const { data: list } = await octokit.rest.pulls.list(repo)
    expect(list.map((each) => each.number)).toEqual([number])
    await expect(octokit.rest.pulls.get({ ...repo, pull_number: 999 })).rejects.toMatchObject({ status: 404 })
  })

  test('a check run is created, completed, and listed at its commit', async () => {
    const { data: run } = await octokit.rest.checks.create({
      ...repo,
      name: 'validation',
      head_sha: sha,
      status: 'in_progress',
    })
    expect(run).toMatchObject({ name: 'validation', head_sha: sha, status: 'in_progress', conclusion: null })
    const annotations = [
      {
        path: 'catalog.yaml',
        start_line: 1,
        end_line: 1,
        annotation_level: 'failure' as const,
        message: 'no',
      },
    ]
    const output = { title: 'Bad', summary: 'One problem', annotations }
    const { data: done } = await octokit.rest.checks.update({
      ...repo,
      check_run_id: run.id,
      conclusion: 'failure',
      status: 'completed',
      output,
    })
    expect(done).toMatchObject({
      id: run.id,
      status: 'completed',
      conclusion: 'failure',
      output: { title: 'Bad', annotations_count: 1 },
    })
    const { data: list } = await octokit.rest.checks.listForRef({ ...repo, ref: sha })
    expect(list).toMatchObject({ total_count: 1, check_runs: [{ id: run.id, conclusion: 'failure' }] })
  })

  test('a comment is created, edited in place, and deleted', async () => {
    const issue = { ...repo, issue_number: number }
    const { data: comment } = await octokit.rest.issues.createComment({ ...issue, body: 'Hello' })
    expect(comment).toMatchObject({ body: 'Hello', user: { login: 'catalog-bot[bot]' } })
    const one = { ...repo, comment_id: comment.id }
    expect((await octokit.rest.issues.updateComment({ ...one, body: 'Hello again' })).data).toMatchObject({
      id: comment.id,
      body: 'Hello again',
    })
    expect((await octokit.rest.issues.listComments(issue)).data.map((each) => each.id)).toEqual([comment.id])
    await octokit.rest.issues.deleteComment(one)
    await expect(octokit.rest.issues.getComment(one)).rejects.toMatchObject({ status: 404 })
  })

  test('reading a branch that does not exist fails', async () => {
    await expect(octokit.rest.git.getRef({ ...repo, ref: 'heads/none' })).rejects.toMatchObject({
      status: 404,
    })
  })

  test('webhooks are signed over their bytes and name the installation', async () => {
    await it.settled()
    const opened = it.receiver.received.find(
      (each) => each.event === 'pull_request' && each.payload['action'] === 'opened',
    )
    if (opened === undefined) throw new Error('nothing was received')
    const signature = createHmac('sha256', webhookSecret).update(opened.body).digest('hex')
    expect(opened.headers['x-hub-signature-256']).toBe(`sha256=${signature}`)
    expect(opened.headers['x-github-delivery']).toBeTruthy()
    expect(opened.payload).toMatchObject({
      installation: { id: it.installation },
      repository: { full_name: fullRepositoryName },
      pull_request: { number, head: { sha } },
      sender: { login: 'catalog-bot[bot]' },
    })
  })
})
