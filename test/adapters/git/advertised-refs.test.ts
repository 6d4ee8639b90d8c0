// Runs against git's own server: what it answers, and that a fetch without changes starts no git process.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { toPullNumber } from '../../../src/pull-request/ids.ts'
import { fetchAdvertisedRefs } from '../../../src/adapters/git/fetch.ts'
import { openGitMirror } from '../../../src/adapters/git/mirror.ts'
import { createGitRemote } from '../../../src/adapters/git/remote.ts'
import { createOriginRepository, createTemporaryDirectory } from './origin.ts'
import { startSmartHttpServer } from './smart-http.ts'

const gitCredentials = { username: 'x-access-token', password: 'ghs_verySecretToken+/=0123456789' }
const neverAbortedSignal = new AbortController().signal

const temporaryDirectory = createTemporaryDirectory('advertised')
const originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
originRepository.branch('main', originRepository.commit({ x: '1' }))
originRepository.branch('main-2', originRepository.commit({ x: '2' }))
originRepository.pull(7, originRepository.commit({ x: '3' }))
const gitServer = await startSmartHttpServer(join(temporaryDirectory.path, 'origin.git'), gitCredentials)
afterAll(async () => {
  await gitServer.close()
  temporaryDirectory.remove()
})
beforeEach(() => {
  gitServer.requests.length = 0
  gitServer.fault = undefined
})

const createTestGitRemote = (password = gitCredentials.password) =>
  createGitRemote(`${gitServer.url}/origin.git`, async () => ({
    username: gitCredentials.username,
    password,
  }))

describe('advertised refs', () => {
  test('are returned for exactly the requested refs, in one request', async () => {
    const refs = ['refs/heads/main', 'refs/pull/7/head', 'refs/heads/gone']
    expect(
      [...((await fetchAdvertisedRefs(createTestGitRemote(), refs, neverAbortedSignal)) ?? [])].sort(),
    ).toEqual([
      ['refs/heads/main', originRepository.tip('main')],
      ['refs/pull/7/head', originRepository.git(['rev-parse', 'refs/pull/7/head'])],
    ])
    expect(gitServer.requests).toEqual([
      { method: 'POST', path: '/origin.git/git-upload-pack', authorized: true },
    ])
  })

  test.each([
    ['a wrong credential', undefined],
    ['a redirect', { status: 302, body: '' }],
    ['a server error', { status: 500, body: '' }],
    ['an HTML page', { status: 200, body: '<html>' }],
    ['a response in another protocol version', { status: 200, body: `0000${'0'.repeat(40)}` }],
    ['a truncated response', { status: 200, body: `003d${'a'.repeat(40)} refs/heads/main\n` }],
    [
      'a line longer than its declared length',
      { status: 200, body: `0008${'a'.repeat(40)} refs/heads/main\n0000` },
    ],
    ['a duplicate ref', { status: 200, body: `003d${'a'.repeat(40)} refs/heads/main\n`.repeat(2) + '0000' }],
    ['data after the end', { status: 200, body: '00000000' }],
    [
      'a response that is too long',
      { status: 200, body: `003d${'a'.repeat(40)} refs/heads/main\n`.repeat(2000) },
    ],
  ])('are not read from %s', async (_what, expectedPassword) => {
    if (expectedPassword)
      gitServer.fault = (_request, response) => {
        response
          .writeHead(
            expectedPassword.status,
            expectedPassword.status === 302 ? { location: `${gitServer.url}/origin.git` } : {},
          )
          .end(expectedPassword.body)
        return true
      }
    const asked = createTestGitRemote(expectedPassword === undefined ? 'wrong' : gitCredentials.password)
    expect(await fetchAdvertisedRefs(asked, ['refs/heads/main'], neverAbortedSignal)).toBeUndefined()
    expect(gitServer.requests).toHaveLength(1)
  })

  test('are not requested without HTTP, and end when the request is aborted', async () => {
    const file = createGitRemote(originRepository.url, async () => undefined)
    expect(await fetchAdvertisedRefs(file, ['refs/heads/main'], neverAbortedSignal)).toBeUndefined()
    gitServer.fault = () => true
    const ending = new AbortController()
    const answer = fetchAdvertisedRefs(createTestGitRemote(), ['refs/heads/main'], ending.signal)
    ending.abort()
    expect(await answer).toBeUndefined()
  })
})

test('a fetch sends one request if the mirror has the commits, another for missing ones, or leaves it to Git', async () => {
  const mirror = await openGitMirror({
    directory: join(temporaryDirectory.path, 'mirror.git'),
    url: `${gitServer.url}/origin.git`,
    credential: async () => gitCredentials,
  })
  try {
    await mirror.fetch('main', toPullNumber(7))
    gitServer.requests.length = 0
    await mirror.fetch('main', toPullNumber(7))
    expect(gitServer.requests.map(({ method }) => method)).toEqual(['POST'])

    const before = originRepository.tip('main')
    for (const [requests, moved] of [
      [2, originRepository.commit({ x: '4' }, [before])],
      [1, before],
    ] as const) {
      gitServer.requests.length = 0
      originRepository.branch('main', moved)
      await mirror.fetch('main', toPullNumber(7))
      expect(gitServer.requests.map(({ method }) => method)).toEqual(Array(requests).fill('POST'))
      expect(await mirror.tip('main')).toBe(moved)
    }

    originRepository.git(['update-ref', '-d', 'refs/pull/7/head'])
    await mirror.fetch('main', toPullNumber(7))
    expect(await mirror.pullHead(toPullNumber(7))).toBeUndefined()

    for (const [request, status, body] of [
      [1, 502, ''],
      [2, 502, ''],
      [2, 200, '000eERR unknown0000'],
      [2, 200, '000dpackfile\n0009\u0001PACK0000'],
      [2, 200, '000dpackfile\n0009\u0003fail0000'],
    ] as const) {
      gitServer.requests.length = 0
      gitServer.fault = (_request, response) => {
        if (gitServer.requests.length !== request) return false
        response.writeHead(status).end(body)
        return true
      }
      originRepository.branch('main', originRepository.commit({ x: '5' }, [originRepository.tip('main')]))
      await mirror.fetch('main')
      expect(gitServer.requests.map(({ method }) => method)).toContain('GET')
      expect(await mirror.tip('main')).toBe(originRepository.tip('main'))
    }
  } finally {
    await mirror.close()
  }
})
