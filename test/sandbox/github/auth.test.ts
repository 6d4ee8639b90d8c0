import { afterAll, describe, expect, test } from '@jest/globals'
import { ProbotOctokit } from 'probot'
import { generatePrivateKey } from '../../../sandbox/github/github-admin.ts'
import {
  fullRepositoryName,
  startGitHubFixture,
  runGit,
  signJwt,
  repo,
  privateKey,
} from './github-fixture.ts'
import type { GitHubFixture } from './github-fixture.ts'

let currentTimeMs = Date.now()
const fixture = await startGitHubFixture({ clock: { now: () => currentTimeMs } })
const { github, installation, octokit } = fixture
afterAll(async () => fixture.stop())

const getCurrentTimeSeconds = (): number => Math.floor(Date.now() / 1000)
const createHttpErrorMatcher = (value: number): object => expect.objectContaining({ status: value })

describe('an app authenticates with a JWT', () => {
  test.each<[string, () => string]>([
    ['signed with another key', () => signJwt({ iss: fixture.app.id }, generatePrivateKey())],
    ['that has expired', () => signJwt({ iss: fixture.app.id, exp: getCurrentTimeSeconds() - 5 })],
    [
      'with a longer lifetime than GitHub allows',
      () => signJwt({ iss: fixture.app.id, exp: getCurrentTimeSeconds() + 3600 }),
    ],
    ['issued in the future', () => signJwt({ iss: fixture.app.id, iat: getCurrentTimeSeconds() + 300 })],
    ['of an app that does not exist', () => signJwt({ iss: 1 })],
    ['with another algorithm in its header', () => signJwt({ iss: fixture.app.id }, privateKey, 'none')],
    ['that is malformed', () => 'a.b.c'],
  ])('a JWT %s is rejected', async (_, make) => {
    await expect(fixture.client(make()).rest.apps.getAuthenticated()).rejects.toEqual(
      createHttpErrorMatcher(401),
    )
  })

  test('an installation token is not accepted as a JWT, and a JWT cannot access a repository', async () => {
    await expect(octokit.rest.apps.getAuthenticated()).rejects.toEqual(createHttpErrorMatcher(401))
    await expect(fixture.asApp.rest.pulls.list(repo)).rejects.toEqual(createHttpErrorMatcher(401))
  })

  test("Probot's client authenticates automatically", async () => {
    const octokit = new ProbotOctokit({
      auth: { appId: fixture.app.id, privateKey, installationId: installation.id },
      baseUrl: github.url,
    })
    expect((await octokit.rest.repos.get(repo)).data.full_name).toBe(fullRepositoryName)
  })
})

describe('an installation token', () => {
  test('expires after an hour for REST and Git', async () => {
    const token = await fixture.token()
    await fixture.client(token).rest.repos.get(repo)
    currentTimeMs += 3_600_000
    await expect(fixture.client(token).rest.repos.get(repo)).rejects.toEqual(createHttpErrorMatcher(401))
    await expect(
      runGit(fixture.directory, token, 'ls-remote', `${github.url}/${fullRepositoryName}.git`),
    ).rejects.toThrow()
  })

  test('can be narrowed, but not widened', async () => {
    const token = await fixture.token({ permissions: { contents: 'read' } })
    await fixture.client(token).rest.repos.getContent({ ...repo, path: 'README.md' })
    await expect(fixture.client(token).rest.pulls.list(repo)).rejects.toThrow(
      'Resource not accessible by integration',
    )
    await expect(fixture.token({ permissions: { administration: 'write' } })).rejects.toEqual(
      createHttpErrorMatcher(422),
    )
    await expect(fixture.token({ permissions: { members: 'write' } })).rejects.toEqual(
      createHttpErrorMatcher(422),
    )
    await expect(fixture.token({ repositoryNames: ['not-there'] })).rejects.toEqual(
      createHttpErrorMatcher(422),
    )
  })

  test('gives access only to the repositories it was created for', async () => {
    const other = { owner: 'catalogs', repo: 'other' }
    const created = await github.createRepository('catalogs', 'other', { private: true })
    github.changeInstallation(installation, ['catalogs/other'])
    const [one, both] = [await fixture.token({ repositoryNames: ['community'] }), await fixture.token()]
    await expect(fixture.client(one).rest.repos.get(other)).rejects.toEqual(createHttpErrorMatcher(404))
    expect((await fixture.client(both).rest.repos.get(other)).data.id).toBe(created.id)
    github.changeInstallation(installation, [], ['catalogs/other'])
    await expect(fixture.client(both).rest.repos.get(other)).rejects.toEqual(createHttpErrorMatcher(404))
  })

  test.each<[string, 'read' | 'write', (client: GitHubFixture['octokit']) => Promise<unknown>]>([
    ['checks', 'write', async (it) => it.rest.checks.create({ ...repo, name: 'x', head_sha: 'main' })],
    [
      'statuses',
      'write',
      async (it) => it.rest.repos.createCommitStatus({ ...repo, sha: 'main', state: 'success' }),
    ],
    ['statuses', 'read', async (it) => it.rest.repos.getCombinedStatusForRef({ ...repo, ref: 'main' })],
    ['pull_requests', 'read', async (it) => it.rest.pulls.list(repo)],
    [
      'members',
      'read',
      async (it) =>
        it.rest.teams.getMembershipForUserInOrg({ org: 'catalogs', team_slug: 'none', username: 'bob' }),
    ],
    [
      'actions',
      'write',
      async (it) => it.rest.actions.createWorkflowDispatch({ ...repo, workflow_id: 'none.yml', ref: 'main' }),
    ],
    ['contents', 'write', async (it) => it.rest.repos.createDispatchEvent({ ...repo, event_type: 'x' })],
  ])('without "%s: %s", a request is rejected with 403', async (permission, level, call) => {
    const all = { ...installation.permissions }
    const less = { ...all, [permission]: 'read' as const }
    if (level === 'read') delete (less as Record<string, string>)[permission]
    const client = fixture.client(await fixture.token())
    github.setPermissions(installation, less)
    await expect(call(client)).rejects.toEqual(createHttpErrorMatcher(403))
    github.setPermissions(installation, all)
    await call(client).catch((error: { status: number }) => expect(error.status).not.toBe(403))
  })

  test('of a suspended or removed installation is rejected', async () => {
    const token = await fixture.token()
    github.suspend(installation)
    await expect(fixture.client(token).rest.repos.get(repo)).rejects.toEqual(createHttpErrorMatcher(403))
    github.suspend(installation, false)
    await fixture.client(token).rest.repos.get(repo)
    const { app, installations } = github.installApp(
      { slug: 'short-lived', privateKey, webhookSecret: 'x', events: [], permissions: { contents: 'read' } },
      [fullRepositoryName],
    )
    const [second] = installations
    const client = fixture.client(signJwt({ iss: app.id }))
    const { data } = await client.rest.apps.createInstallationAccessToken({
      installation_id: second?.id ?? 0,
    })
    if (second !== undefined) github.uninstall(second)
    await expect(fixture.client(data.token).rest.repos.get(repo)).rejects.toEqual(createHttpErrorMatcher(401))
  })
})

test('a user with read access cannot dispatch events or create refs', async () => {
  const client = fixture.client(github.tokenFor('outsider'))
  await expect(client.rest.repos.createDispatchEvent({ ...repo, event_type: 'x' })).rejects.toEqual(
    createHttpErrorMatcher(403),
  )
  await expect(
    client.rest.git.createRef({ ...repo, ref: 'refs/heads/x', sha: '0'.repeat(40) }),
  ).rejects.toEqual(createHttpErrorMatcher(403))
})

test('a private repository is not found for users without access', async () => {
  await github.createRepository('maintainer', 'hidden', { private: true })
  const hidden = { owner: 'maintainer', repo: 'hidden' }
  await expect(fixture.client(github.tokenFor('outsider')).rest.repos.get(hidden)).rejects.toEqual(
    createHttpErrorMatcher(404),
  )
  await fixture.client(github.tokenFor('maintainer')).rest.repos.get(hidden)
})

test('an invalid token is rejected even if no token is required', async () => {
  await fixture.client(github.tokenFor('bob')).rest.users.getByUsername({ username: 'bob' })
  await expect(fixture.client('ghs_made_up').rest.users.getByUsername({ username: 'bob' })).rejects.toEqual(
    createHttpErrorMatcher(401),
  )
})

test('the request log names callers and contains no secrets', () => {
  const text = JSON.stringify(github.requests)
  expect(github.requests.map((each) => each.callerName)).toEqual(
    expect.arrayContaining(['app catalog-bot', 'catalog-bot[bot]', 'bob']),
  )
  expect(text).not.toMatch(/gh[sp]_|eyJ|PRIVATE/)
})
