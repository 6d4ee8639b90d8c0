import { afterAll, afterEach, expect, test } from '@jest/globals'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { fullRepositoryName, startGitHubFixture, runGit, repo, createPullOptions } from './github-fixture.ts'

const githubFixture = await startGitHubFixture()
const { github, installation, octokit } = githubFixture
const mockPullRequest = await github.openPull(createPullOptions('Alpha', { a: '1' }))
afterEach(() => github.clearFaults())
afterAll(async () => githubFixture.stop())

const createComment = async (): Promise<unknown> =>
  octokit.rest.issues.createComment({ ...repo, issue_number: mockPullRequest.number, body: 'x' })
const commentCreationRoute = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'

test('a configured status is returned the configured number of times, without the write', async () => {
  const before = mockPullRequest.comments.length
  github.fail(commentCreationRoute, { status: 502 }, 2)
  await expect(createComment()).rejects.toMatchObject({ status: 502 })
  await expect(createComment()).rejects.toMatchObject({ status: 502 })
  expect(mockPullRequest.comments).toHaveLength(before)
  await createComment()
  expect(mockPullRequest.comments).toHaveLength(before + 1)
})

test('a failure after the write keeps the write', async () => {
  const before = mockPullRequest.comments.length
  github.fail(commentCreationRoute, { applyThenFail: 504 })
  await expect(createComment()).rejects.toMatchObject({ status: 504 })
  expect(mockPullRequest.comments).toHaveLength(before + 1)
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a connection can be closed %s the write', async (disconnect, done) => {
  const before = mockPullRequest.comments.length
  github.fail(commentCreationRoute, { disconnect })
  await expect(createComment()).rejects.toMatchObject({ status: 500 })
  expect(mockPullRequest.comments).toHaveLength(before + done)
})

test('a request can stay without a response until the client times out', async () => {
  github.fail((each) => each.template.endsWith('/pulls'), { timeout: true })
  const request = { signal: AbortSignal.timeout(50) }
  await expect(octokit.rest.pulls.list({ ...repo, request })).rejects.toThrow()
  expect(github.requests.at(-1)).toMatchObject({ template: '/repos/{owner}/{repo}/pulls', status: 0 })
  await octokit.rest.pulls.list(repo)
})

test('a lagging replica returns earlier data, and only for reads', async () => {
  const read = async (): Promise<string> =>
    (await octokit.rest.pulls.get({ ...repo, pull_number: mockPullRequest.number })).data.title
  const old = await read()
  const end = github.lag('GET /repos/{owner}/{repo}/pulls/{pull_number}')
  await octokit.rest.pulls.update({ ...repo, pull_number: mockPullRequest.number, title: 'Another title' })
  expect(await read()).toBe(old)
  end()
  expect(await read()).toBe('Another title')
})

test('rate limits have the same responses as on GitHub', async () => {
  github.limitRate('secondary', 7)
  await expect(createComment()).rejects.toMatchObject({
    status: 429,
    response: { headers: { 'retry-after': '7' } },
  })
  github.limitRate('primary', 60)
  await expect(createComment()).rejects.toMatchObject({
    status: 403,
    response: { headers: { 'x-ratelimit-remaining': '0' } },
  })
  github.setRemaining(installation, 1)
  await createComment()
  await expect(createComment()).rejects.toThrow('API rate limit exceeded')
  github.setRemaining(installation, 5000)
  const { headers } = await octokit.rest.repos.get(repo)
  expect(headers['x-ratelimit-remaining']).toBe('4999')
})

test('a push can be applied although its response is lost', async () => {
  const folder = await mkdtemp(join(githubFixture.directory, 'push-'))
  const token = await githubFixture.token()
  await runGit(folder, token, 'clone', '-q', `${github.url}/${fullRepositoryName}.git`, '.')
  await runGit(folder, token, 'fetch', '-q', 'origin', `refs/pull/${mockPullRequest.number}/head`)
  const mergedTip = await runGit(folder, token, 'rev-parse', 'FETCH_HEAD')
  const pushing = 'POST /{owner}/{repo}.git/git-receive-pack'
  github.fail(pushing, { status: 500 })
  await expect(runGit(folder, token, 'push', '-q', 'origin', 'FETCH_HEAD:main')).rejects.toThrow()
  expect(mockPullRequest.state).toBe('open')
  github.fail(pushing, { applyThenFail: 502 })
  await expect(runGit(folder, token, 'push', '-q', 'origin', 'FETCH_HEAD:main')).rejects.toThrow()
  expect(mockPullRequest).toMatchObject({ state: 'closed', merged: { sha: mergedTip } })
  const log = github.requests
    .filter((each) => each.template.endsWith('git-receive-pack'))
    .map((each) => each.status)
  expect(log).toEqual([500, 502])
})
