// What GitHub answered to one session's token is no answer to another's, and none for what changes something.
import { beforeEach, expect, test } from '@jest/globals'
import { createRepositoryAccess } from '../../../src/web/server/repository-access.ts'

const repository = { owner: 'coast', name: 'secret' }
const privateListing = { repository, installation: 1, isPublic: false, listedAt: 0 }
const createSession = (word: string) => ({ id: 7, login: 'ann', token: `token of ${word}`, word })
const askedTokens: string[] = []
let isSessionEnded = (_token: string) => false

const readableRepositories = createRepositoryAccess({
  pages: 'public',
  client: {
    checkReadAccess: (token) => {
      askedTokens.push(token)
      return Promise.resolve(isSessionEnded(token) ? 'ended' : 'yes')
    },
    authorizeUrl: () => '',
    exchange: () => Promise.resolve(undefined),
    revoke: () => Promise.resolve(),
  },
  budget: { take: () => true },
  publicFor: 1,
  now: () => 5000,
})
beforeEach(() => void (askedTokens.length = 0))

test('an answer is cached for its session alone', async () => {
  isSessionEnded = (token) => token.includes('two')
  expect(await readableRepositories.checkRead(createSession('one'), repository, privateListing)).toBe('yes')
  expect(await readableRepositories.checkRead(createSession('one'), repository, privateListing)).toBe('yes')
  expect(askedTokens).toEqual(['token of one'])
  expect(await readableRepositories.checkRead(createSession('two'), repository, privateListing)).toBe('ended')
})

test('an act is asked about each time', async () => {
  isSessionEnded = () => false
  expect(await readableRepositories.checkAction(createSession('three'), repository)).toBe('yes')
  expect(await readableRepositories.checkRead(createSession('three'), repository, privateListing)).toBe('yes')
  isSessionEnded = () => true
  expect(await readableRepositories.checkAction(createSession('three'), repository)).toBe('ended')
  expect(askedTokens).toEqual(['token of three', 'token of three'])
})
