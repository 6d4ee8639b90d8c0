// The cached access of one session does not apply to another session, or to actions that change something.
import { beforeEach, expect, test } from '@jest/globals'
import { RepositoryAccessChecker } from '../../../src/web/server/repository-access.ts'

const repository = { owner: 'coast', name: 'secret' }
const listedPrivateRepository = { repository, installation: 1, isPublic: false, listedAt: 0 }
const createWebSession = (word: string) => ({ id: 7, login: 'ann', token: `token of ${word}`, word })
const tokensCheckedForReadAccess: string[] = []
let isSessionEnded = (_token: string) => false

const checker = new RepositoryAccessChecker({
  pages: 'public',
  client: {
    checkReadAccess: (token) => {
      tokensCheckedForReadAccess.push(token)
      return Promise.resolve(isSessionEnded(token) ? 'ended' : 'yes')
    },
    authorizeUrl: () => '',
    exchange: () => Promise.resolve(undefined),
    revoke: () => Promise.resolve(),
  },
  budget: () => true,
  publicFor: 1,
  now: () => 5000,
})
beforeEach(() => void (tokensCheckedForReadAccess.length = 0))

test('read access is cached only for its session', async () => {
  isSessionEnded = (token) => token.includes('two')
  expect(await checker.checkRead(createWebSession('one'), repository, listedPrivateRepository)).toBe('yes')
  expect(await checker.checkRead(createWebSession('one'), repository, listedPrivateRepository)).toBe('yes')
  expect(tokensCheckedForReadAccess).toEqual(['token of one'])
  expect(await checker.checkRead(createWebSession('two'), repository, listedPrivateRepository)).toBe('ended')
})

test('access for an action is requested from GitHub each time', async () => {
  isSessionEnded = () => false
  expect(await checker.checkAction(createWebSession('three'), repository)).toBe('yes')
  expect(await checker.checkRead(createWebSession('three'), repository, listedPrivateRepository)).toBe('yes')
  isSessionEnded = () => true
  expect(await checker.checkAction(createWebSession('three'), repository)).toBe('ended')
  expect(tokensCheckedForReadAccess).toEqual(['token of three', 'token of three'])
})
