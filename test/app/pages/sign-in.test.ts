// Signing in where GitHub takes any code: what is left is ours to refuse.
import { expect, test } from '@jest/globals'
import type { IncomingMessage } from 'node:http'
import { openSignIn } from '../../../src/app/pages/sign-in.ts'

const time = { now: 0 }
const asked: string[] = []
const signIn = openSignIn({
  clientSecret: 'a secret of the App',
  publicUrl: 'https://bot.example.com',
  now: () => time.now,
  client: {
    authorizeUrl: ({ state }) => `https://github.example/?state=${state}`,
    exchange: ({ code }) => {
      asked.push(code)
      return Promise.resolve({ id: 7, login: 'ann', token: 'ghu_token' })
    },
    mayRead: () => Promise.resolve('yes'),
    revoke: () => Promise.resolve(),
  },
})
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
  expect(signIn.whoIs(session)).toMatchObject({ login: 'ann' })
  time.now += 3600_000
  expect(signIn.whoIs(session)).toBeUndefined()
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
  expect(signIn.whoIs(from(cookie.replace('-way=', '-session=')))).toBeUndefined()
})
