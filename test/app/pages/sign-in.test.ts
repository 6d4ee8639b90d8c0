// Signing in where GitHub takes any code: what is left is ours to refuse.
import { expect, test } from '@jest/globals'
import type { IncomingMessage } from 'node:http'
import { openSignIn } from '../../../src/app/pages/sign-in.ts'
import { openMemoryCache } from '../../../src/examine/memory-cache.ts'
import type { Cache } from '../../../src/ports/cache.ts'

const time = { now: 0 }
const asked: string[] = []
const revoked: string[] = []
const store = openMemoryCache({ now: () => time.now })
const options = {
  clientSecret: 'a secret of the App',
  publicUrl: 'https://bot.example.com',
  now: () => time.now,
  client: {
    authorizeUrl: ({ state }: { state: string }) => `https://github.example/?state=${state}`,
    exchange: ({ code }: { code: string }) => {
      asked.push(code)
      return Promise.resolve({ id: 7, login: 'ann', token: 'ghu_token' })
    },
    mayRead: () => Promise.resolve('yes' as const),
    revoke: (token: string) => Promise.resolve(void revoked.push(token)),
  },
} satisfies Omit<Parameters<typeof openSignIn>[0], 'store'>
const signIn = openSignIn({ ...options, store })
const begin = () => {
  const { to, cookies } = signIn.begin('/r/a/b')
  return { state: new URL(to).searchParams.get('state') ?? '', cookie: cookies[0]?.split(';')[0] ?? '' }
}
const from = (cookie: string) => ({ headers: { cookie } }) as IncomingMessage
const back = (state: string, code = 'abc') => new URLSearchParams({ state, code })

test('a browser that began it comes back to where it was, with a session', async () => {
  const { state, cookie } = begin()
  const done = await signIn.finish(from(cookie), back(state))
  expect(done?.to).toBe('/r/a/b')
  expect(done?.cookies).toEqual([
    expect.stringMatching(
      /^__Host-catalog-bot-session=.*; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/,
    ),
    expect.stringContaining('__Host-catalog-bot-way=; Path=/; Max-Age=0'),
  ])
  const session = from(done?.cookies[0]?.split(';')[0] ?? '')
  expect(await signIn.readSession(session)).toMatchObject({ login: 'ann' })
  time.now += 3600_000
  expect(await signIn.readSession(session)).toBeUndefined()
})

test.each([
  ['the state of another browser', () => back(begin().state)],
  ['no state', () => new URLSearchParams({ code: 'abc' })],
  ['a code that is none', () => undefined],
])('with %s GitHub is not even asked', async (_name, query) => {
  const { state, cookie } = begin()
  asked.length = 0
  expect(await signIn.finish(from(cookie), query() ?? back(state, '../x'))).toBeUndefined()
  expect(asked).toEqual([])
})

test('who took too long, or never began, does not get in', async () => {
  const { state, cookie } = begin()
  expect(await signIn.finish(from(''), back(state))).toBeUndefined()
  time.now += 600_001
  expect(await signIn.finish(from(cookie), back(state))).toBeUndefined()
})

test('a session is no way back, and a way back no session', async () => {
  const { cookie } = begin()
  expect(await signIn.readSession(from(cookie.replace('-way=', '-session=')))).toBeUndefined()
})

async function begunSession(by = signIn, also = '') {
  const { state, cookie } = begin()
  const done = await by.finish(from(`${cookie}; ${also}`), back(state))
  return done?.cookies[0]?.split(';')[0] ?? ''
}

test('a session that was ended is ended on every instance, after a restart, and no other is', async () => {
  const [mine, other] = [await begunSession(), await begunSession()]
  const session = await signIn.readSession(from(mine))
  if (session === undefined) throw new Error('there is no session')
  const elsewhere = openSignIn({ ...options, store })
  expect(await elsewhere.readSession(from(mine))).toMatchObject({ login: 'ann' })
  revoked.length = 0
  await signIn.end(session)
  expect(revoked).toEqual(['ghu_token'])
  for (const instance of [signIn, elsewhere, openSignIn({ ...options, store })]) {
    expect(await instance.readSession(from(mine))).toBeUndefined()
    expect(await instance.readSession(from(other))).toMatchObject({ login: 'ann' })
  }
})

test('a session that the store does not know is none, though its seal is right', async () => {
  const mine = await begunSession()
  const empty = openSignIn({ ...options, store: openMemoryCache({ now: () => time.now }) })
  expect(await empty.readSession(from(mine))).toBeUndefined()
})

test('signing in ends the session that the browser had', async () => {
  const before = await begunSession()
  revoked.length = 0
  const after = await begunSession(signIn, before)
  expect(await signIn.readSession(from(before))).toBeUndefined()
  expect(await signIn.readSession(from(after))).toMatchObject({ login: 'ann' })
  expect(revoked).toEqual(['ghu_token'])
})

test('one person fills only so much of the store', async () => {
  const keys = new Set<string>()
  const counting: Cache = {
    ...store,
    putCached: (space, values, seconds) => {
      for (const key of values.keys()) keys.add(key)
      expect(seconds).toBe(3600)
      return store.putCached(space, values, seconds)
    },
  }
  const busy = openSignIn({ ...options, store: counting })
  for (let turn = 0; turn < 2000; turn++) await begunSession(busy)
  expect(keys.size).toBeGreaterThan(200)
  expect(keys.size).toBeLessThanOrEqual(256)
})

test('where the store does not take it, signing out fails, and the token ends all the same', async () => {
  const mine = await begunSession()
  const broken = openSignIn({
    ...options,
    store: { ...store, putCached: () => Promise.reject(new Error('the store is away')) },
  })
  const session = await broken.readSession(from(mine))
  if (session === undefined) throw new Error('there is no session')
  revoked.length = 0
  await expect(broken.end(session)).rejects.toThrow('away')
  expect(revoked).toEqual(['ghu_token'])
})
