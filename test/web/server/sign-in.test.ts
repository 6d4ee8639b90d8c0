// Signing in with a GitHub that accepts any code, so that every rejection is ours.
import { expect, test } from '@jest/globals'
import type { IncomingMessage } from 'node:http'
import { SignInFlow } from '../../../src/web/server/sign-in.ts'
import { createInMemoryCache } from '../../../src/catalogs/memory-cache.ts'
import type { Cache } from '../../../src/ports/cache.ts'

const fakeClockState = { now: 0 }
const exchangedOAuthCodes: string[] = []
const revokedTokens: string[] = []
const store = createInMemoryCache({ now: () => fakeClockState.now })
const signInOptions = {
  clientSecret: 'a secret of the App',
  publicUrl: 'https://bot.example.com',
  now: () => fakeClockState.now,
  client: {
    authorizeUrl: ({ state }: { state: string }) => `https://github.example/?state=${state}`,
    exchange: ({ code }: { code: string }) => {
      exchangedOAuthCodes.push(code)
      return Promise.resolve({ id: 7, login: 'ann', token: 'ghu_token' })
    },
    checkReadAccess: () => Promise.resolve('yes' as const),
    revoke: (token: string) => Promise.resolve(void revokedTokens.push(token)),
  },
} satisfies Omit<ConstructorParameters<typeof SignInFlow>[0], 'store'>
const flow = new SignInFlow({ ...signInOptions, store })
const startSignIn = () => {
  const { to, cookies } = flow.begin('/r/a/b')
  return { state: new URL(to).searchParams.get('state') ?? '', cookie: cookies[0]?.split(';')[0] ?? '' }
}
const createRequestWithCookie = (cookie: string) => ({ headers: { cookie } }) as IncomingMessage
const createOAuthCallbackQuery = (state: string, code = 'abc') => new URLSearchParams({ state, code })

test('the browser that started signing in returns to its page with a one-hour session', async () => {
  const { state, cookie } = startSignIn()
  const done = await flow.finish(createRequestWithCookie(cookie), createOAuthCallbackQuery(state))
  expect(done?.to).toBe('/r/a/b')
  expect(done?.cookies).toEqual([
    expect.stringMatching(
      /^__Host-catalog-bot-session=.*; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/,
    ),
    expect.stringContaining('__Host-catalog-bot-way=; Path=/; Max-Age=0'),
  ])
  const session = createRequestWithCookie(done?.cookies[0]?.split(';')[0] ?? '')
  expect(await flow.readSession(session)).toMatchObject({ login: 'ann' })
  fakeClockState.now += 3600_000
  expect(await flow.readSession(session)).toBeUndefined()
})

test.each([
  ['the state of another browser', () => createOAuthCallbackQuery(startSignIn().state)],
  ['no state', () => new URLSearchParams({ code: 'abc' })],
  ['an invalid code', () => undefined],
])('sends nothing to GitHub with %s', async (_name, query) => {
  const { state, cookie } = startSignIn()
  exchangedOAuthCodes.length = 0
  expect(
    await flow.finish(createRequestWithCookie(cookie), query() ?? createOAuthCallbackQuery(state, '../x')),
  ).toBeUndefined()
  expect(exchangedOAuthCodes).toEqual([])
})

test('rejects a browser that took too long or never started', async () => {
  const { state, cookie } = startSignIn()
  expect(await flow.finish(createRequestWithCookie(''), createOAuthCallbackQuery(state))).toBeUndefined()
  fakeClockState.now += 600_001
  expect(await flow.finish(createRequestWithCookie(cookie), createOAuthCallbackQuery(state))).toBeUndefined()
})

test('the cookie of a started sign-in is not accepted as a session', async () => {
  const { cookie } = startSignIn()
  expect(
    await flow.readSession(createRequestWithCookie(cookie.replace('-way=', '-session='))),
  ).toBeUndefined()
})

async function completeSignIn(by = flow, also = '') {
  const { state, cookie } = startSignIn()
  const done = await by.finish(createRequestWithCookie(`${cookie}; ${also}`), createOAuthCallbackQuery(state))
  return done?.cookies[0]?.split(';')[0] ?? ''
}

test('ending a session ends it on every instance and after a restart, without affecting others', async () => {
  const [mine, other] = [await completeSignIn(), await completeSignIn()]
  const session = await flow.readSession(createRequestWithCookie(mine))
  if (session === undefined) throw new Error('there is no session')
  const elsewhere = new SignInFlow({ ...signInOptions, store })
  expect(await elsewhere.readSession(createRequestWithCookie(mine))).toMatchObject({ login: 'ann' })
  revokedTokens.length = 0
  await flow.end(session)
  expect(revokedTokens).toEqual(['ghu_token'])
  for (const instance of [flow, elsewhere, new SignInFlow({ ...signInOptions, store })]) {
    expect(await instance.readSession(createRequestWithCookie(mine))).toBeUndefined()
    expect(await instance.readSession(createRequestWithCookie(other))).toMatchObject({ login: 'ann' })
  }
})

test('rejects a session that the store does not know, even if its seal is valid', async () => {
  const mine = await completeSignIn()
  const empty = new SignInFlow({
    ...signInOptions,
    store: createInMemoryCache({ now: () => fakeClockState.now }),
  })
  expect(await empty.readSession(createRequestWithCookie(mine))).toBeUndefined()
})

test('signing in ends the session that the browser had', async () => {
  const before = await completeSignIn()
  revokedTokens.length = 0
  const after = await completeSignIn(flow, before)
  expect(await flow.readSession(createRequestWithCookie(before))).toBeUndefined()
  expect(await flow.readSession(createRequestWithCookie(after))).toMatchObject({ login: 'ann' })
  expect(revokedTokens).toEqual(['ghu_token'])
})

test('limits the number of store entries per user', async () => {
  const keys = new Set<string>()
  const counting: Cache = {
    ...store,
    putCached: (space, values, seconds) => {
      for (const key of values.keys()) keys.add(key)
      expect(seconds).toBe(3600)
      return store.putCached(space, values, seconds)
    },
  }
  const busy = new SignInFlow({ ...signInOptions, store: counting })
  for (let turn = 0; turn < 2000; turn++) await completeSignIn(busy)
  expect(keys.size).toBeGreaterThan(200)
  expect(keys.size).toBeLessThanOrEqual(256)
})

test('if the store fails, signing out fails but still revokes the token', async () => {
  const mine = await completeSignIn()
  const broken = new SignInFlow({
    ...signInOptions,
    store: { ...store, putCached: () => Promise.reject(new Error('the store is away')) },
  })
  const session = await broken.readSession(createRequestWithCookie(mine))
  if (session === undefined) throw new Error('there is no session')
  revokedTokens.length = 0
  await expect(broken.end(session)).rejects.toThrow('away')
  expect(revokedTokens).toEqual(['ghu_token'])
})
