// Requests behind a budget: a known response is requested only if it changed, and after a rate limit no request is sent
// until the limit ends.
import { describe, expect, test } from '@jest/globals'
import nock from 'nock'
import pino from 'pino'
import { generatePrivateKey } from '../../../../sandbox/github/github-admin.ts'
import {
  toResponseCacheKey,
  createResponseCache,
} from '../../../../src/adapters/github/budget/budgeted-fetch.ts'
import type { WorkPriorityClass } from '../../../../src/adapters/github/budget/request-limits.ts'
import { toForgeError } from '../../../../src/adapters/github/forge-error.ts'
import { GitHubApp } from '../../../../src/adapters/github/github-app.ts'
import { blockUnmockedRequests } from '../block-unmocked-requests.ts'
import { flushEventLoop, createManualClock } from './manual-clock.ts'

const githubHost = 'https://github.example'
const repositoryApiPath = '/repos/acme/catalog'
const mainRepository = { default_branch: 'main' }
const repo = { owner: 'acme', repo: 'catalog' }
const privateKey = generatePrivateKey()

blockUnmockedRequests()

function createBudgetedGitHubClients({ throttle = false } = {}) {
  const time = createManualClock(Date.now())
  const heard: string[] = []
  const app = new GitHubApp({
    appId: 5,
    privateKey,
    webhookSecret: 'x',
    apiUrl: githubHost,
    throttle,
    clock: time.clock,
    log: pino({ level: 'silent' }),
    onAnswer: (how, work) => heard.push(`${work} ${how}`),
  })
  return { app, heard, time }
}

function mockInstallationToken(installation: number): string {
  const token = `ghs_${installation}`
  const answer = { token, expires_at: '2999-01-01T00:00:00Z', permissions: {}, repository_selection: 'all' }
  nock(githubHost).post(`/app/installations/${installation}/access_tokens`).reply(201, answer)
  return `token ${token}`
}

const expectGitHubRequest = (authorization: string, etag?: string) =>
  nock(githubHost, {
    reqheaders: { authorization, ...(etag !== undefined && { 'if-none-match': etag }) },
    ...(etag === undefined && { badheaders: ['if-none-match'] }),
  })

const createRateLimitHeaders = (remaining: number, more = {}) => ({
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 1800),
  ...more,
})

describe('a known response', () => {
  test('is requested conditionally, and is the latest response of GitHub', async () => {
    const authorization = mockInstallationToken(9)
    const { app, heard } = createBudgetedGitHubClients()
    const read = async () => (await (await app.octokit(9)).rest.repos.get(repo)).data
    expectGitHubRequest(authorization)
      .get(repositoryApiPath)
      .reply(200, { default_branch: 'main' }, { etag: 'W/"1"' })
    const first = await read()
    expectGitHubRequest(authorization, 'W/"1"').get(repositoryApiPath).reply(304)
    const second = await read()
    expect(second).toEqual(first)
    // A caller that changes its copy does not change the cached response.
    second.default_branch = 'changed'
    expectGitHubRequest(authorization, 'W/"1"')
      .get(repositoryApiPath)
      .reply(200, { default_branch: 'next' }, { etag: 'W/"2"' })
    expect((await read()).default_branch).toBe('next')
    expectGitHubRequest(authorization, 'W/"2"').get(repositoryApiPath).reply(304)
    expect((await read()).default_branch).toBe('next')
    // A failed request does not remove the response from the cache.
    expectGitHubRequest(authorization, 'W/"2"').get(repositoryApiPath).reply(502)
    expectGitHubRequest(authorization, 'W/"2"').get(repositoryApiPath).reply(304)
    expect((await read()).default_branch).toBe('next')
    expect(heard.slice(0, 5)).toEqual([
      'look sent',
      'look sent',
      'look unchanged',
      'look sent',
      'look unchanged',
    ])
  })

  test('is removed from the cache if GitHub returns 404', async () => {
    const authorization = mockInstallationToken(9)
    const { app } = createBudgetedGitHubClients()
    const read = async () =>
      (await app.octokit(9)).rest.repos.getCollaboratorPermissionLevel({ ...repo, username: 'ann' })
    const path = `${repositoryApiPath}/collaborators/ann/permission`
    expectGitHubRequest(authorization).get(path).reply(200, { permission: 'admin' }, { etag: '"1"' })
    await read()
    expectGitHubRequest(authorization, '"1"').get(path).reply(404, { message: 'Not Found' })
    await expect(read()).rejects.toMatchObject({ status: 404 })
    // The next request is unconditional.
    expectGitHubRequest(authorization).get(path).reply(200, { permission: 'none' })
    expect((await read()).data.permission).toBe('none')
  })

  test.each(['{"default_br', '', '<html></html>'])('%j, which a proxy returned, is not one', async (body) => {
    const authorization = mockInstallationToken(9)
    const { app } = createBudgetedGitHubClients()
    const headers = { etag: '"1"', 'content-type': 'application/json' }
    expectGitHubRequest(authorization).get(repositoryApiPath).reply(200, body, headers)
    // The retry.
    expectGitHubRequest(authorization).get(repositoryApiPath).reply(200, { default_branch: 'main' })
    const { data } = await (await app.octokit(9)).rest.repos.get(repo)
    expect(data.default_branch).toBe('main')
  })

  test('is not used for another installation or another token', async () => {
    const first = mockInstallationToken(9)
    const { app } = createBudgetedGitHubClients()
    const read = async (installation: number) => (await app.octokit(installation)).rest.repos.get(repo)
    expectGitHubRequest(first).get(repositoryApiPath).reply(200, mainRepository, { etag: '"1"' })
    await read(9)
    const other = mockInstallationToken(8)
    expectGitHubRequest(other).get(repositoryApiPath).reply(200, mainRepository, { etag: '"1"' })
    await read(8)
    const { app: again } = createBudgetedGitHubClients()
    mockInstallationToken(9)
    expectGitHubRequest(first).get(repositoryApiPath).reply(200, mainRepository, { etag: '"1"' })
    await (await again.octokit(9)).rest.repos.get(repo)
    const keys = ['token ghs_1', 'token ghs_2'].map((authorization) =>
      toResponseCacheKey(githubHost, new Headers({ authorization })),
    )
    expect(keys[0]).not.toBe(keys[1])
    expect(keys.join(' ')).not.toContain('ghs_')
  })

  test('is evicted at a size limit, least recently used first', () => {
    const answerCache = createResponseCache(10_000)
    const answer = (size: number) => ({ etag: 'x', headers: [], body: Buffer.alloc(size) })
    for (const key of ['a', 'b', 'c']) answerCache.put(key, answer(2000))
    answerCache.get('a')
    answerCache.put('d', answer(2000))
    expect(['a', 'b', 'c', 'd'].filter((key) => answerCache.get(key) !== undefined)).toEqual(['a', 'c', 'd'])
    expect(answerCache.bytes).toBeLessThanOrEqual(10_000)
    answerCache.put('a', undefined)
    for (const key of ['c', 'd']) answerCache.put(key, undefined)
    expect(answerCache.bytes).toBe(0)
    const usual = createResponseCache()
    usual.put('long', answer(300 * 1024))
    expect(usual.get('long')).toBeUndefined()
  })
})

describe('a rate limit', () => {
  const secondaryLimitMessage =
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
  test.each([
    ['429', 429, {}, { message: 'too many' }, 60],
    ['retry-after', 403, { 'retry-after': '90' }, { message: 'no' }, 90],
    ['the message alone', 403, createRateLimitHeaders(4000), { message: secondaryLimitMessage }, 60],
    [
      'the message of old servers',
      403,
      {},
      { message: 'You have triggered an abuse detection mechanism.' },
      60,
    ],
  ])(
    'by %s holds all requests of the installation until it ends',
    async (_name, status, headers, body, seconds) => {
      mockInstallationToken(9)
      const { app, heard } = createBudgetedGitHubClients()
      nock(githubHost).get(repositoryApiPath).reply(status, body, headers)
      const read = async (work: WorkPriorityClass) =>
        (await app.octokit(9, work)).rest.repos
          .get(repo)
          .catch((error: unknown) => toForgeError(error, 'read'))
      expect(await read('look')).toMatchObject({ code: 'rate-limited', retryAfter: seconds })
      const held = await Promise.all([read('landing'), read('look'), read('scan')])
      expect(held).toEqual(
        [1, 2, 3].map(() => expect.objectContaining({ code: 'rate-limited', retryAfter: seconds })),
      )
      expect(heard.slice(-4)).toEqual(['look refused', 'landing held', 'look held', 'scan held'])
      const [{ until } = { until: 0 }] = app.held()
      // The message rounds up to the next minute, so that it never names a time that is too early.
      const minute = Math.ceil(until / 60_000) * 60_000
      expect((held[0] as Error).message).toContain(new Date(minute).toISOString().slice(11, 16))
    },
  )

  test('is not detected if a response merely contains such a message', async () => {
    mockInstallationToken(9)
    const { app } = createBudgetedGitHubClients()
    nock(githubHost)
      .get(repositoryApiPath)
      .reply(
        403,
        { message: `Resource not accessible: ${secondaryLimitMessage}` },
        createRateLimitHeaders(4000),
      )
    const octokit = await app.octokit(9)
    const failed = await octokit.rest.repos.get(repo).catch((error: unknown) => toForgeError(error, 'read'))
    expect(failed).toMatchObject({ code: 'forbidden' })
    nock(githubHost)
      .post('/graphql')
      .reply(200, { data: { title: secondaryLimitMessage } }, createRateLimitHeaders(4000))
    await octokit.graphql('{ title }')
    expect(app.held()).toEqual([])
  })

  test('by GraphQL with HTTP 200 holds only GraphQL requests', async () => {
    mockInstallationToken(9)
    const { app } = createBudgetedGitHubClients()
    const errors = [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for installation ID 9.' }]
    nock(githubHost)
      .post('/graphql')
      .reply(
        200,
        { errors },
        createRateLimitHeaders(0, { 'x-ratelimit-resource': 'graphql', date: new Date().toUTCString() }),
      )
    const octokit = await app.octokit(9, 'landing')
    const query = () => octokit.graphql('{ a }').catch((error: unknown) => toForgeError(error, 'read'))
    expect(await query()).toMatchObject({ code: 'rate-limited' })
    expect(await query()).toMatchObject({ code: 'rate-limited' })
    nock(githubHost).get(repositoryApiPath).reply(200, mainRepository)
    await octokit.rest.repos.get(repo)
  })
})

test('a failed read is repeated, and each attempt uses the budget', async () => {
  mockInstallationToken(9)
  const { app, heard } = createBudgetedGitHubClients()
  nock(githubHost).get(repositoryApiPath).times(2).reply(502)
  nock(githubHost).get(repositoryApiPath).reply(200, mainRepository)
  await (await app.octokit(9)).rest.repos.get(repo)
  expect(heard.filter((one) => one === 'look sent')).toHaveLength(4)
})

test('writes wait for one another, but reads and queries do not', async () => {
  mockInstallationToken(9)
  const { app, time } = createBudgetedGitHubClients({ throttle: true })
  const octokit = await app.octokit(9)
  nock(githubHost).post(`${repositoryApiPath}/issues/1/comments`).times(2).reply(201, {})
  nock(githubHost).post('/graphql').times(2).reply(200, { data: {} })
  nock(githubHost).post('/graphql').reply(200, { data: {} })
  nock(githubHost).get(repositoryApiPath).reply(200, mainRepository)
  const done: string[] = []
  const note = (name: string, work: Promise<unknown>) => work.then(() => done.push(name))
  const comment = () => octokit.rest.issues.createComment({ ...repo, issue_number: 1, body: 'x' })
  await note('first', comment())
  const second = note('second', comment())
  await note('query', octokit.graphql('query { a }'))
  await note('query', octokit.graphql('{ a }'))
  await note('read', octokit.rest.repos.get(repo))
  await flushEventLoop()
  expect(done).toEqual(['first', 'query', 'query', 'read'])
  await time.advance(1000)
  await second
  const mutation = note('mutation', octokit.graphql('mutation { a }'))
  for (let turn = 0; turn < 5; turn += 1) await flushEventLoop()
  expect(done.at(-1)).toBe('second')
  await time.advance(1000)
  await mutation
})
