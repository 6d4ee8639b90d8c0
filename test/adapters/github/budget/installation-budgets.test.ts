// A rate limit of one request applies to its entire installation, until the time that GitHub reports.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Octokit } from '@octokit/rest'
import { toForgeError } from '../../../../src/adapters/github/forge-error.ts'
import { silentOctokitLog } from '../../../../src/adapters/github/github-fetch.ts'
import type { GitHubApp } from '../../../../src/adapters/github/github-app.ts'
import { startGitHubFixture, repo } from '../../../sandbox/github/github-fixture.ts'
import { createTestGitHubApp } from '../../../jobs/job-context.ts'

let githubApp: GitHubApp
let currentTimeMs = Date.now()
const clock = { now: () => currentTimeMs, sleep: () => Promise.resolve() }

const githubFixture = await startGitHubFixture({ clock })
afterAll(() => githubFixture.stop())
beforeEach(() => {
  currentTimeMs = Date.now()
  githubApp = createTestGitHubApp(githubFixture, clock)
})

// The request for a token counts, too.
const countGitHubRequests = () => githubFixture.github.requests.length
const getRepositoryReadError = async (installation = githubFixture.installation.id) =>
  (await githubApp.octokit(installation)).rest.repos.get(repo).then(
    () => undefined,
    (error: unknown) => toForgeError(error, 'read the repository'),
  )

test('an error of the network is not reported as a response by GitHub', async () => {
  const unreachable = new Octokit({ baseUrl: 'http://127.0.0.1:1', log: silentOctokitLog })
  const error = await unreachable.request('GET /').catch((caught: unknown) => toForgeError(caught, 'read it'))
  expect(error).toMatchObject({ code: 'unavailable', message: 'could not read it: GitHub is unreachable' })
})

describe.each(['primary', 'secondary'] as const)('a %s limit', (kind) => {
  test('holds every job of the installation as long as GitHub requires, and no longer', async () => {
    githubFixture.github.limitRate(kind, 600)
    const before = countGitHubRequests()
    const first = await getRepositoryReadError()
    expect(first).toMatchObject({ code: 'rate-limited' })
    expect(first?.retryAfter).toBeGreaterThanOrEqual(599)
    expect(first?.retryAfter).toBeLessThanOrEqual(602)
    for (let jobs = 0; jobs < 5; jobs += 1)
      expect(await getRepositoryReadError()).toMatchObject({
        code: 'rate-limited',
        retryAfter: first?.retryAfter,
      })
    expect(countGitHubRequests() - before).toBe(1)
    currentTimeMs += 603_000
    expect(await getRepositoryReadError()).toBeUndefined()
  })
})

test('an installation with a rejected token request is omitted, and the others are listed', async () => {
  githubFixture.github.createUser('closed-owner')
  await githubFixture.github.createRepository('closed-owner', 'catalogs')
  const closed = githubFixture.github.install(
    githubFixture.app,
    githubFixture.github.account('closed-owner'),
    [githubFixture.github.repository('closed-owner/catalogs')],
  )
  const failTokenRequests = () =>
    githubFixture.github.fail(({ path }) => path === `/app/installations/${closed.id}/access_tokens`, {
      status: 403,
      body: { message: 'This installation has been suspended' },
    })
  failTokenRequests()
  const listed = await githubApp.installedRepositories()
  expect(listed.map(({ installation }) => installation)).toEqual([githubFixture.installation.id])
  // If every request fails, the list is an error: an empty list would silently skip every sweep.
  githubFixture.github.fail(({ path }) => path.endsWith('/access_tokens'), { status: 403 }, 4)
  await expect(createTestGitHubApp(githubFixture, clock).installedRepositories()).rejects.toMatchObject({
    name: 'ForgeError',
  })
})
