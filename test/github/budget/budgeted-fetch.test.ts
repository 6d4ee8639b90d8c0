// What goes over the wire where a budget stands before it: what is known is asked for only if it has changed, and whoever was
// told to wait does not ask again.
import { describe, expect, test } from '@jest/globals'
import nock from 'nock'
import pino from 'pino'
import { newPrivateKey } from '../../../sandbox/github/settings.ts'
import { keyOf, openKeptAnswers } from '../../../src/github/budget/kept-answers.ts'
import type { WorkClass } from '../../../src/github/budget/work-class.ts'
import { toForgeError } from '../../../src/github/forge-error.ts'
import { openGitHubApp } from '../../../src/github/github-app.ts'
import { nothingButNock } from '../nothing-but-nock.ts'
import { settled, stillClock } from './still-clock.ts'

const host = 'https://github.example'
const home = '/repos/acme/catalog'
const target = { owner: 'acme', repo: 'catalog' }
const privateKey = newPrivateKey()

nothingButNock()

function open({ throttle = false } = {}) {
  const time = stillClock(Date.now())
  const heard: string[] = []
  const app = openGitHubApp({
    appId: 5,
    privateKey,
    webhookSecret: 'x',
    apiUrl: host,
    throttle,
    clock: time.clock,
    log: pino({ level: 'silent' }),
    onAnswer: (how, work) => heard.push(`${work} ${how}`),
  })
  return { app, heard, time }
}

function tokenOf(installation: number): string {
  const token = `ghs_${installation}`
  const answer = { token, expires_at: '2999-01-01T00:00:00Z', permissions: {}, repository_selection: 'all' }
  nock(host).post(`/app/installations/${installation}/access_tokens`).reply(201, answer)
  return `token ${token}`
}

const asked = (authorization: string, etag?: string) =>
  nock(host, {
    reqheaders: { authorization, ...(etag !== undefined && { 'if-none-match': etag }) },
    ...(etag === undefined && { badheaders: ['if-none-match'] }),
  })

const limits = (remaining: number, more = {}) => ({
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 1800),
  ...more,
})

describe('what is known', () => {
  test('is asked for only if it has changed, and is what GitHub said last', async () => {
    const authorization = tokenOf(9)
    const { app, heard } = open()
    const read = async () => (await (await app.octokit(9)).rest.repos.get(target)).data
    asked(authorization).get(home).reply(200, { default_branch: 'main' }, { etag: 'W/"1"' })
    const first = await read()
    asked(authorization, 'W/"1"').get(home).reply(304)
    const second = await read()
    expect(second).toEqual(first)
    // Whoever changes what was read changes no other's answer.
    second.default_branch = 'changed'
    asked(authorization, 'W/"1"').get(home).reply(200, { default_branch: 'next' }, { etag: 'W/"2"' })
    expect((await read()).default_branch).toBe('next')
    asked(authorization, 'W/"2"').get(home).reply(304)
    expect((await read()).default_branch).toBe('next')
    // Who cannot say it now has not taken it back.
    asked(authorization, 'W/"2"').get(home).reply(502)
    asked(authorization, 'W/"2"').get(home).reply(304)
    expect((await read()).default_branch).toBe('next')
    expect(heard.slice(0, 5)).toEqual([
      'look sent',
      'look sent',
      'look unchanged',
      'look sent',
      'look unchanged',
    ])
  })

  test('is forgotten where GitHub does not say it any more', async () => {
    const authorization = tokenOf(9)
    const { app } = open()
    const read = async () =>
      (await app.octokit(9)).rest.repos.getCollaboratorPermissionLevel({ ...target, username: 'ann' })
    const path = `${home}/collaborators/ann/permission`
    asked(authorization).get(path).reply(200, { permission: 'admin' }, { etag: '"1"' })
    await read()
    asked(authorization, '"1"').get(path).reply(404, { message: 'Not Found' })
    await expect(read()).rejects.toMatchObject({ status: 404 })
    // Not what it said when it still did.
    asked(authorization).get(path).reply(200, { permission: 'none' })
    expect((await read()).data.permission).toBe('none')
  })

  test('is nothing to another installation, nor to another token', async () => {
    const first = tokenOf(9)
    const { app } = open()
    const read = async (installation: number) => (await app.octokit(installation)).rest.repos.get(target)
    asked(first).get(home).reply(200, { id: 1 }, { etag: '"1"' })
    await read(9)
    const other = tokenOf(8)
    asked(other).get(home).reply(200, { id: 1 }, { etag: '"1"' })
    await read(8)
    const { app: again } = open()
    tokenOf(9)
    asked(first).get(home).reply(200, { id: 1 }, { etag: '"1"' })
    await (await again.octokit(9)).rest.repos.get(target)
    const keys = ['token ghs_1', 'token ghs_2'].map((authorization) =>
      keyOf(host, new Headers({ authorization })),
    )
    expect(keys[0]).not.toBe(keys[1])
    expect(keys.join(' ')).not.toContain('ghs_')
  })

  test('has a bound, and the oldest goes first', () => {
    const kept = openKeptAnswers(10_000)
    const answer = (size: number) => ({ etag: 'x', headers: [], body: Buffer.alloc(size) })
    for (const key of ['a', 'b', 'c']) kept.put(key, answer(2000))
    kept.get('a')
    kept.put('d', answer(2000))
    expect(['a', 'b', 'c', 'd'].filter((key) => kept.get(key) !== undefined)).toEqual(['a', 'c', 'd'])
    expect(kept.bytes).toBeLessThanOrEqual(10_000)
    kept.put('a', undefined)
    for (const key of ['c', 'd']) kept.put(key, undefined)
    expect(kept.bytes).toBe(0)
    const usual = openKeptAnswers()
    usual.put('long', answer(300 * 1024))
    expect(usual.get('long')).toBeUndefined()
  })
})

describe('whoever is told to wait', () => {
  const said = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
  test.each([
    ['429', 429, {}, { message: 'too many' }, 60],
    ['retry-after', 403, { 'retry-after': '90' }, { message: 'no' }, 90],
    ['words alone', 403, limits(4000), { message: said }, 60],
    [
      'the words of old servers',
      403,
      {},
      { message: 'You have triggered an abuse detection mechanism.' },
      60,
    ],
  ])(
    'by %s asks once, and nobody of the installation asks until then',
    async (_name, status, headers, body, seconds) => {
      tokenOf(9)
      const { app, heard } = open()
      nock(host).get(home).reply(status, body, headers)
      const read = async (work: WorkClass) =>
        (await app.octokit(9, work)).rest.repos
          .get(target)
          .catch((error: unknown) => toForgeError(error, 'read'))
      expect(await read('look')).toMatchObject({ code: 'rate-limited', retryAfter: seconds })
      const held = await Promise.all([read('landing'), read('look'), read('scan')])
      expect(held).toEqual(
        [1, 2, 3].map(() => expect.objectContaining({ code: 'rate-limited', retryAfter: seconds })),
      )
      expect(heard.slice(-4)).toEqual(['look refused', 'landing held', 'look held', 'scan held'])
      const [{ until } = { until: 0 }] = app.held()
      // Up to the next minute: before it nobody asks.
      const minute = Math.ceil(until / 60_000) * 60_000
      expect((held[0] as Error).message).toContain(new Date(minute).toISOString().slice(11, 16))
    },
  )

  test('is none whose answer only holds such words', async () => {
    tokenOf(9)
    const { app } = open()
    nock(host)
      .get(home)
      .reply(403, { message: `Resource not accessible: ${said}` }, limits(4000))
    const octokit = await app.octokit(9)
    const failed = await octokit.rest.repos.get(target).catch((error: unknown) => toForgeError(error, 'read'))
    expect(failed).toMatchObject({ code: 'forbidden' })
    nock(host)
      .post('/graphql')
      .reply(200, { data: { title: said } }, limits(4000))
    await octokit.graphql('{ title }')
    expect(app.held()).toEqual([])
  })

  test('by GraphQL, with a status of success, waits for GraphQL', async () => {
    tokenOf(9)
    const { app } = open()
    const errors = [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for installation ID 9.' }]
    nock(host)
      .post('/graphql')
      .reply(
        200,
        { errors },
        limits(0, { 'x-ratelimit-resource': 'graphql', date: new Date().toUTCString() }),
      )
    const octokit = await app.octokit(9, 'landing')
    const query = () => octokit.graphql('{ a }').catch((error: unknown) => toForgeError(error, 'read'))
    const first = await query()
    expect(first).toMatchObject({ code: 'rate-limited' })
    expect(await query()).toMatchObject({ code: 'rate-limited' })
    nock(host).get(home).reply(200, {})
    await octokit.rest.repos.get(target)
  })
})

test('a read that fails is repeated, and each time goes by the budget', async () => {
  tokenOf(9)
  const { app, heard } = open()
  nock(host).get(home).times(2).reply(502)
  nock(host).get(home).reply(200, {})
  await (await app.octokit(9)).rest.repos.get(target)
  expect(heard.filter((one) => one === 'look sent')).toHaveLength(4)
})

test('writes wait for one another, reads and queries do not', async () => {
  tokenOf(9)
  const { app, time } = open({ throttle: true })
  const octokit = await app.octokit(9)
  nock(host).post(`${home}/issues/1/comments`).times(2).reply(201, {})
  nock(host).post('/graphql').times(2).reply(200, { data: {} })
  nock(host).post('/graphql').reply(200, { data: {} })
  nock(host).get(home).reply(200, {})
  const done: string[] = []
  const note = (name: string, work: Promise<unknown>) => work.then(() => done.push(name))
  const comment = () => octokit.rest.issues.createComment({ ...target, issue_number: 1, body: 'x' })
  await note('first', comment())
  const second = note('second', comment())
  await note('query', octokit.graphql('query { a }'))
  await note('query', octokit.graphql('{ a }'))
  await note('read', octokit.rest.repos.get(target))
  await settled()
  expect(done).toEqual(['first', 'query', 'query', 'read'])
  await time.pass(1000)
  await second
  const mutation = note('mutation', octokit.graphql('mutation { a }'))
  for (let turn = 0; turn < 5; turn += 1) await settled()
  expect(done.at(-1)).toBe('second')
  await time.pass(1000)
  await mutation
})
