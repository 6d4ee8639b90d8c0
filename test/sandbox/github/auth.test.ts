import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ProbotOctokit } from 'probot'
import { newPrivateKey } from '../../../sandbox/github/settings.ts'
import { full, furnish, git, jwt, name, privateKey } from './sample-world.ts'
import type { Furnished } from './sample-world.ts'

let it: Furnished
let now = Date.now()
beforeAll(async () => {
  it = await furnish({ clock: { now: () => now } })
})
afterAll(async () => it.stop())

const seconds = (): number => Math.floor(Date.now() / 1000)
const status = (value: number): object => expect.objectContaining({ status: value })

describe('an app proves itself with a JWT', () => {
  test.each<[string, () => string]>([
    ['signed with another key', () => jwt({ iss: it.app.id }, newPrivateKey())],
    ['expired', () => jwt({ iss: it.app.id, exp: seconds() - 5 })],
    ['good for longer than GitHub allows', () => jwt({ iss: it.app.id, exp: seconds() + 3600 })],
    ['issued in the future', () => jwt({ iss: it.app.id, iat: seconds() + 300 })],
    ['of an app that is not there', () => jwt({ iss: 1 })],
    ['with another algorithm in its head', () => jwt({ iss: it.app.id }, privateKey, 'none')],
    ['that is no JWT', () => 'a.b.c'],
  ])('one %s is refused', async (_, make) => {
    await expect(it.client(make()).rest.apps.getAuthenticated()).rejects.toEqual(status(401))
  })

  test('an installation token is no JWT, and a JWT opens no repository', async () => {
    await expect(it.octokit.rest.apps.getAuthenticated()).rejects.toEqual(status(401))
    await expect(it.asApp.rest.pulls.list(name)).rejects.toEqual(status(401))
  })

  test("Probot's own client signs in by itself", async () => {
    const octokit = new ProbotOctokit({
      auth: { appId: it.app.id, privateKey, installationId: it.installation.id },
      baseUrl: it.github.url,
    })
    expect((await octokit.rest.repos.get(name)).data.full_name).toBe(full)
  })
})

describe('an installation token', () => {
  test('ends after an hour, for REST and for git', async () => {
    const token = await it.token()
    await it.client(token).rest.repos.get(name)
    now += 3_600_000
    await expect(it.client(token).rest.repos.get(name)).rejects.toEqual(status(401))
    await expect(git(it.directory, token, 'ls-remote', `${it.github.url}/${full}.git`)).rejects.toThrow()
  })

  test('can be made narrower, not wider', async () => {
    const token = await it.token({ permissions: { contents: 'read' } })
    await it.client(token).rest.repos.getContent({ ...name, path: 'README.md' })
    await expect(it.client(token).rest.pulls.list(name)).rejects.toThrow(
      'Resource not accessible by integration',
    )
    await expect(it.token({ permissions: { administration: 'write' } })).rejects.toEqual(status(422))
    await expect(it.token({ permissions: { members: 'write' } })).rejects.toEqual(status(422))
    await expect(it.token({ repositoryNames: ['not-there'] })).rejects.toEqual(status(422))
  })

  test('reaches the repositories it was made for alone', async () => {
    const other = { owner: 'catalogs', repo: 'other' }
    const repo = await it.github.createRepository('catalogs', 'other', { private: true })
    it.github.changeInstallation(it.installation, ['catalogs/other'])
    const [one, both] = [await it.token({ repositoryNames: ['community'] }), await it.token()]
    await expect(it.client(one).rest.repos.get(other)).rejects.toEqual(status(404))
    expect((await it.client(both).rest.repos.get(other)).data.id).toBe(repo.id)
    it.github.changeInstallation(it.installation, [], ['catalogs/other'])
    await expect(it.client(both).rest.repos.get(other)).rejects.toEqual(status(404))
  })

  test.each<[string, 'read' | 'write', (client: Furnished['octokit']) => Promise<unknown>]>([
    ['checks', 'write', async (it) => it.rest.checks.create({ ...name, name: 'x', head_sha: 'main' })],
    [
      'statuses',
      'write',
      async (it) => it.rest.repos.createCommitStatus({ ...name, sha: 'main', state: 'success' }),
    ],
    ['statuses', 'read', async (it) => it.rest.repos.getCombinedStatusForRef({ ...name, ref: 'main' })],
    ['pull_requests', 'read', async (it) => it.rest.pulls.list(name)],
    [
      'members',
      'read',
      async (it) =>
        it.rest.teams.getMembershipForUserInOrg({ org: 'catalogs', team_slug: 'none', username: 'bob' }),
    ],
    [
      'actions',
      'write',
      async (it) => it.rest.actions.createWorkflowDispatch({ ...name, workflow_id: 'none.yml', ref: 'main' }),
    ],
    ['contents', 'write', async (it) => it.rest.repos.createDispatchEvent({ ...name, event_type: 'x' })],
  ])('without %s: %s is told that the resource is not accessible', async (permission, level, call) => {
    const { installation, github } = it
    const all = { ...installation.permissions }
    const less = { ...all, [permission]: 'read' as const }
    if (level === 'read') delete (less as Record<string, string>)[permission]
    const client = it.client(await it.token())
    github.setPermissions(installation, less)
    await expect(call(client)).rejects.toEqual(status(403))
    github.setPermissions(installation, all)
    await call(client).catch((error: { status: number }) => expect(error.status).not.toBe(403))
  })

  test('of a suspended or removed installation opens nothing', async () => {
    const token = await it.token()
    it.github.suspend(it.installation)
    await expect(it.client(token).rest.repos.get(name)).rejects.toEqual(status(403))
    it.github.suspend(it.installation, false)
    await it.client(token).rest.repos.get(name)
    const { app, installations } = it.github.installApp(
      { slug: 'short-lived', privateKey, webhookSecret: 'x', events: [], permissions: { contents: 'read' } },
      [full],
    )
    const [second] = installations
    const client = it.client(jwt({ iss: app.id }))
    const { data } = await client.rest.apps.createInstallationAccessToken({
      installation_id: second?.id ?? 0,
    })
    if (second !== undefined) it.github.uninstall(second)
    await expect(it.client(data.token).rest.repos.get(name)).rejects.toEqual(status(401))
  })
})

test('a person with read access may comment and not push, label or dispatch', async () => {
  const client = it.client(it.github.tokenFor('stranger'))
  await expect(client.rest.repos.createDispatchEvent({ ...name, event_type: 'x' })).rejects.toEqual(
    status(403),
  )
  await expect(
    client.rest.git.createRef({ ...name, ref: 'refs/heads/x', sha: '0'.repeat(40) }),
  ).rejects.toEqual(status(403))
})

test('a private repository does not exist for those who may not see it', async () => {
  await it.github.createRepository('maintainer', 'hidden', { private: true })
  const hidden = { owner: 'maintainer', repo: 'hidden' }
  await expect(it.client(it.github.tokenFor('stranger')).rest.repos.get(hidden)).rejects.toEqual(status(404))
  await it.client(it.github.tokenFor('maintainer')).rest.repos.get(hidden)
})

test('a wrong token is refused even where none is needed', async () => {
  await it.client(it.github.tokenFor('bob')).rest.users.getByUsername({ username: 'bob' })
  await expect(it.client('ghs_made_up').rest.users.getByUsername({ username: 'bob' })).rejects.toEqual(
    status(401),
  )
})

test('the request log names callers and holds no secret', () => {
  const text = JSON.stringify(it.github.requests)
  expect(it.github.requests.map((each) => each.who)).toEqual(
    expect.arrayContaining(['app catalog-bot', 'catalog-bot[bot]', 'bob']),
  )
  expect(text).not.toMatch(/gh[sp]_|eyJ|PRIVATE/)
})
