// What GitHub answered to one session's token is no answer to another's, and none for what changes something.
import { beforeEach, expect, test } from '@jest/globals'
import { openReadable } from '../../../src/app/pages/readable.ts'

const repository = { owner: 'coast', name: 'secret' }
const listed = { repository, installation: 1, isPublic: false, listedAt: 0 }
const session = (word: string) => ({ id: 7, login: 'ann', token: `token of ${word}`, word })
const asked: string[] = []
let isEnded = (_token: string) => false

const readable = openReadable({
  pages: 'public',
  client: {
    mayRead: (token) => {
      asked.push(token)
      return Promise.resolve(isEnded(token) ? 'ended' : 'yes')
    },
    authorizeUrl: () => '',
    exchange: () => Promise.resolve(undefined),
    revoke: () => Promise.resolve(),
  },
  budget: { take: () => true },
  publicFor: 1,
  now: () => 5000,
})
beforeEach(() => void (asked.length = 0))

test('an answer is cached for its session alone', async () => {
  isEnded = (token) => token.includes('two')
  expect(await readable.may(session('one'), repository, listed)).toBe('yes')
  expect(await readable.may(session('one'), repository, listed)).toBe('yes')
  expect(asked).toEqual(['token of one'])
  expect(await readable.may(session('two'), repository, listed)).toBe('ended')
})

test('an act is asked about each time', async () => {
  isEnded = () => false
  expect(await readable.mayAct(session('three'), repository)).toBe('yes')
  expect(await readable.may(session('three'), repository, listed)).toBe('yes')
  isEnded = () => true
  expect(await readable.mayAct(session('three'), repository)).toBe('ended')
  expect(asked).toEqual(['token of three', 'token of three'])
})
