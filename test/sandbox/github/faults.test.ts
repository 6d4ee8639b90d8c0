import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pull } from '../../../sandbox/github/world.ts'
import { full, furnish, git, name } from './sample-world.ts'
import type { Furnished } from './sample-world.ts'

let it: Furnished
let pull: Pull
beforeAll(async () => {
  it = await furnish()
  pull = await it.github.openPull({ repository: full, author: 'alice', title: 'Alpha', changes: { a: '1' } })
})
afterEach(() => it.github.clearFaults())
afterAll(async () => it.stop())

const comment = async (): Promise<unknown> =>
  it.octokit.rest.issues.createComment({ ...name, issue_number: pull.number, body: 'x' })
const commenting = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'

test('a status comes instead of the deed, so many times', async () => {
  const before = pull.comments.length
  it.github.fail(commenting, { status: 502 }, 2)
  await expect(comment()).rejects.toMatchObject({ status: 502 })
  await expect(comment()).rejects.toMatchObject({ status: 502 })
  expect(pull.comments).toHaveLength(before)
  await comment()
  expect(pull.comments).toHaveLength(before + 1)
})

test('a failure after the deed leaves it done', async () => {
  const before = pull.comments.length
  it.github.fail(commenting, { applyThenFail: 504 })
  await expect(comment()).rejects.toMatchObject({ status: 504 })
  expect(pull.comments).toHaveLength(before + 1)
})

test.each([
  ['before', 0],
  ['after', 1],
] as const)('a connection that is cut %s the deed', async (disconnect, done) => {
  const before = pull.comments.length
  it.github.fail(commenting, { disconnect })
  await expect(comment()).rejects.toMatchObject({ status: 500 })
  expect(pull.comments).toHaveLength(before + done)
})

test('no answer at all, until the client gives up', async () => {
  it.github.fail((each) => each.template.endsWith('/pulls'), { timeout: true })
  const request = { signal: AbortSignal.timeout(50) }
  await expect(it.octokit.rest.pulls.list({ ...name, request })).rejects.toThrow()
  expect(it.github.requests.at(-1)).toMatchObject({ template: '/repos/{owner}/{repo}/pulls', status: 0 })
  await it.octokit.rest.pulls.list(name)
})

test('a replica that lags says what it said before, to reads alone', async () => {
  const read = async (): Promise<string> =>
    (await it.octokit.rest.pulls.get({ ...name, pull_number: pull.number })).data.title
  const old = await read()
  const end = it.github.lag('GET /repos/{owner}/{repo}/pulls/{pull_number}')
  await it.octokit.rest.pulls.update({ ...name, pull_number: pull.number, title: 'Another title' })
  expect(await read()).toBe(old)
  end()
  expect(await read()).toBe('Another title')
})

test('rate limits are answered as GitHub answers them', async () => {
  it.github.limitRate('secondary', 7)
  await expect(comment()).rejects.toMatchObject({
    status: 429,
    response: { headers: { 'retry-after': '7' } },
  })
  it.github.limitRate('primary', 60)
  await expect(comment()).rejects.toMatchObject({
    status: 403,
    response: { headers: { 'x-ratelimit-remaining': '0' } },
  })
  it.github.setRemaining(it.installation, 1)
  await comment()
  await expect(comment()).rejects.toThrow('API rate limit exceeded')
  it.github.setRemaining(it.installation, 5000)
  const { headers } = await it.octokit.rest.repos.get(name)
  expect(headers['x-ratelimit-remaining']).toBe('4999')
})

test('a push can be applied and its answer lost', async () => {
  const folder = await mkdtemp(join(it.directory, 'push-'))
  const token = await it.token()
  await git(folder, token, 'clone', '-q', `${it.github.url}/${full}.git`, '.')
  await git(folder, token, 'fetch', '-q', 'origin', `refs/pull/${pull.number}/head`)
  const landed = await git(folder, token, 'rev-parse', 'FETCH_HEAD')
  const pushing = 'POST /{owner}/{repo}.git/git-receive-pack'
  it.github.fail(pushing, { status: 500 })
  await expect(git(folder, token, 'push', '-q', 'origin', 'FETCH_HEAD:main')).rejects.toThrow()
  expect(pull.state).toBe('open')
  it.github.fail(pushing, { applyThenFail: 502 })
  await expect(git(folder, token, 'push', '-q', 'origin', 'FETCH_HEAD:main')).rejects.toThrow()
  expect(pull).toMatchObject({ state: 'closed', merged: { sha: landed } })
  const log = it.github.requests
    .filter((each) => each.template.endsWith('git-receive-pack'))
    .map((each) => each.status)
  expect(log).toEqual([500, 502])
})
