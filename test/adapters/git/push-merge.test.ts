import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { toCommitSha, toPullNumber, toTreeSha } from '../../../src/pull-request/ids.ts'
import { createMergePermit, type ValidatedMerge, type MergePermit } from '../../../src/policy/merge-permit.ts'
import { openGitMirror, type GitMirror } from '../../../src/adapters/git/mirror.ts'
import { createOriginRepository, createTemporaryDirectory, type OriginRepository } from './origin.ts'
import { startSmartHttpServer, type SmartHttpServer } from './smart-http.ts'

const gitCredentials = { username: 'x-access-token', password: 'ghs_secretForPushing123' }
const repository = { owner: 'owner', name: 'origin' }

let temporaryDirectory: ReturnType<typeof createTemporaryDirectory>
let origin: OriginRepository
let gitServer: SmartHttpServer
let gitMirror: GitMirror
beforeEach(async () => {
  temporaryDirectory = createTemporaryDirectory('land')
  origin = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
  origin.git(['config', 'http.receivepack', 'true'])
  origin.branch('main', origin.commit({ 'a/x': '1', 'b/y': '1' }))
  origin.pull(1, origin.commit({ 'a/x': '2', 'b/y': '1' }, [origin.tip('main')]))
  gitServer = await startSmartHttpServer(origin.directory, gitCredentials)
  gitMirror = await createTestGitMirror(`${gitServer.url}/origin.git`)
})
afterEach(async () => {
  await gitMirror.close()
  await gitServer.close()
  temporaryDirectory.remove()
})

const createTestGitMirror = (url: string, timeouts = {}) =>
  openGitMirror({
    directory: join(temporaryDirectory.path, 'mirror.git'),
    url,
    credential: async () => gitCredentials,
    repository,
    timeouts,
  })

async function createTestMergePermit(change: Partial<ValidatedMerge> = {}): Promise<MergePermit> {
  await gitMirror.fetch('main', toPullNumber(1))
  const base = await gitMirror.tip('main')
  const head = await gitMirror.pullHead(toPullNumber(1))
  if (!base || !head) throw new Error('not fetched')
  const result = await gitMirror.merge(base, head, 'Merge pull request #1')
  if (result.kind !== 'clean') throw new Error(result.kind)
  const { commit, tree } = result
  return createMergePermit({
    repository,
    pull: toPullNumber(1),
    baseRef: 'main',
    base,
    head,
    commit,
    tree,
    config: 'c',
    ...change,
  })
}

const installOriginGitHook = (name: string, script: string) => {
  const hooks = join(origin.directory, 'hooks')
  mkdirSync(hooks, { recursive: true })
  const path = join(hooks, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

describe('the push of a merge', () => {
  test('makes the validated commit the tip of the base branch, over HTTP and from a folder', async () => {
    const first = await createTestMergePermit()
    gitServer.requests.length = 0
    expect(await gitMirror.pushMerge(first)).toEqual({ kind: 'landed' })
    expect(origin.tip('main')).toBe(first.merge.commit)
    expect(await gitMirror.tip('main')).toBe(first.merge.commit)
    const paths = gitServer.requests.map(({ path }) => path)
    expect(paths).toEqual(['/origin.git/git-upload-pack', '/origin.git/git-receive-pack'])
    await gitMirror.close()

    origin.pull(1, origin.commit({ 'a/x': '3', 'b/y': '1' }, [origin.tip('main')]))
    gitMirror = await createTestGitMirror(origin.url)
    const second = await createTestMergePermit()
    expect(await gitMirror.pushMerge(second)).toEqual({ kind: 'landed' })
    expect(origin.tip('main')).toBe(second.merge.commit)
  })

  test('succeeds again if the branch already has the commit', async () => {
    const granted = await createTestMergePermit()
    await gitMirror.pushMerge(granted)
    expect(await gitMirror.pushMerge(granted)).toEqual({ kind: 'landed' })
  })

  test('changes nothing and reports `base-moved` if the base moved (T37)', async () => {
    const granted = await createTestMergePermit()
    const moved = origin.commit({ 'a/x': '1', 'b/y': '2' }, [origin.tip('main')])
    origin.branch('main', moved)
    expect(await gitMirror.pushMerge(granted)).toEqual({ kind: 'base-moved' })
    expect(origin.tip('main')).toBe(moved)
  })

  test('changes nothing if the base was reset to an ancestor, even though it is a fast-forward', async () => {
    const root = origin.tip('main')
    origin.branch('main', origin.commit({ 'a/x': '1', 'b/y': '2' }, [root]))
    const granted = await createTestMergePermit()
    origin.branch('main', root)
    expect(await gitMirror.pushMerge(granted)).toEqual({ kind: 'base-moved' })
    expect(origin.tip('main')).toBe(root)
  })

  test('does not recreate a deleted base branch', async () => {
    const granted = await createTestMergePermit()
    origin.git(['update-ref', '-d', 'refs/heads/main'])
    expect(await gitMirror.pushMerge(granted)).toEqual({ kind: 'base-moved' })
    expect(origin.git(['for-each-ref', 'refs/heads'])).toBe('')
  })

  test('changes nothing if the base moves during the push', async () => {
    const granted = await createTestMergePermit()
    const moved = origin.commit({ 'a/x': '1', 'b/y': '2' }, [origin.tip('main')])
    gitServer.fault = (request) => {
      if (request.method === 'POST' && request.url?.endsWith('git-receive-pack')) origin.branch('main', moved)
      return false
    }
    expect(await gitMirror.pushMerge(granted)).toEqual({ kind: 'base-moved' })
    expect(origin.tip('main')).toBe(moved)
  })

  test('succeeds for only one of two permits with the same base', async () => {
    const one = await createTestMergePermit()
    origin.pull(1, origin.commit({ 'a/x': '1', 'b/y': '7' }, [origin.tip('main')]))
    const other = await createTestMergePermit()
    const kinds = (await Promise.all([gitMirror.pushMerge(one), gitMirror.pushMerge(other)])).map(
      ({ kind }) => kind,
    )
    expect(kinds.sort()).toEqual(['base-moved', 'landed'])
    expect([one.merge.commit, other.merge.commit]).toContain(origin.tip('main'))
  })

  test('moves no other ref', async () => {
    origin.git(['tag', '-f', 'v1', origin.tip('main')])
    const granted = await createTestMergePermit()
    const refs = () => origin.git(['for-each-ref', '--format=%(refname) %(objectname)'])
    const before = refs()
    await gitMirror.pushMerge(granted)
    expect(refs()).toBe(
      before.replace(`refs/heads/main ${granted.merge.base}`, `refs/heads/main ${granted.merge.commit}`),
    )
  })

  test('returns the reason of a rejection by the server without control characters', async () => {
    installOriginGitHook(
      'pre-receive',
      'printf "GH006: \\033[31mProtected\\033[0m branch update failed\\n" >&2; exit 1',
    )
    const result = await gitMirror.pushMerge(await createTestMergePermit())
    expect(result).toMatchObject({ kind: 'refused' })
    const { reason } = result as { reason: string }
    expect(reason).toContain('pre-receive hook declined')
    expect(reason).toContain('GH006')
    expect(reason.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f]/)
  })

  test('is rejected on HTTP 403, `unauthorized` on 401, and `unreachable` on 503 or offline', async () => {
    const granted = await createTestMergePermit()
    gitServer.fault = (request, response) =>
      request.url?.includes('receive-pack') ? (response.writeHead(403).end(), true) : false
    expect(await gitMirror.pushMerge(granted)).toMatchObject({ kind: 'refused' })
    gitServer.fault = (_, response) => (response.writeHead(401, { 'www-authenticate': 'Basic' }).end(), true)
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'unauthorized' })
    gitServer.fault = (_, response) => (response.writeHead(503).end(), true)
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'unreachable', retryable: true })
    await gitServer.close()
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'unreachable' })
  })

  test('is `outcome-unknown` if the response is lost, and a fetch shows the outcome (T39)', async () => {
    const granted = await createTestMergePermit()
    gitServer.fault = (request, response) => {
      // The push completes, but its response is cut. git sends the response headers before it starts.
      if (request.method === 'POST' && request.url?.endsWith('git-receive-pack')) {
        response.writeHead = () => response
        response.write = () => true
        response.end = () => response.destroy()
      }
      return false
    }
    const error: unknown = await gitMirror.pushMerge(granted).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'outcome-unknown', retryable: false })
    await gitMirror.fetch('main')
    expect(await gitMirror.tip('main')).toBe(granted.merge.commit)
  })

  test('is `outcome-unknown` if the response is an error page or the connection is closed', async () => {
    const granted = await createTestMergePermit()
    const atPush = (answer: (response: ServerResponse) => void) => {
      gitServer.fault = (request, response) => {
        if (request.method !== 'POST' || !request.url?.endsWith('git-receive-pack')) return false
        answer(response)
        return true
      }
    }
    atPush((response) => void response.writeHead(502).end())
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'outcome-unknown' })
    atPush((response) => void response.destroy())
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'outcome-unknown' })
    atPush((response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'outcome-unknown' })
    atPush((response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' }).end()
    })
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'outcome-unknown' })
  })

  test('is `outcome-unknown` if it takes too long', async () => {
    const granted = await createTestMergePermit()
    await gitMirror.close()
    gitMirror = await createTestGitMirror(`${gitServer.url}/origin.git`, { push: 600 })
    gitServer.fault = (request) => request.method === 'POST'
    await expect(gitMirror.pushMerge(granted)).rejects.toMatchObject({ code: 'outcome-unknown' })
  })
})

describe('a merge permit', () => {
  test('must be minted, and a similar object is rejected', async () => {
    const granted = await createTestMergePermit()
    const copy = { landing: granted.merge } as unknown as MergePermit
    await expect(gitMirror.pushMerge(copy)).rejects.toMatchObject({ code: 'refused' })
    await expect(gitMirror.pushMerge(undefined as never)).rejects.toMatchObject({ code: 'refused' })
    expect(gitServer.requests.filter(({ path }) => path.includes('receive-pack'))).toEqual([])
  })

  test('is rejected if its commit is not the merge of its base and head with its tree', async () => {
    const granted = await createTestMergePermit()
    const { base, head } = granted.merge
    const foreign = origin.commit({ 'a/x': 'evil' }, [base, head])
    origin.branch('foreign', foreign)
    await gitMirror.fetch('foreign')
    for (const change of [
      { commit: foreign },
      { commit: head },
      { base: head },
      { head: base },
      { tree: toTreeSha(origin.tree(foreign)) },
      { repository: { owner: 'owner', name: 'another' } },
      { baseRef: 'main:refs/heads/other' },
      { baseRef: '--mirror' },
      { commit: toCommitSha('e'.repeat(40)) },
    ] as Partial<ValidatedMerge>[]) {
      const error: unknown = await gitMirror
        .pushMerge(await createTestMergePermit(change))
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'GitError', code: expect.stringMatching(/^(?:refused|missing)$/) })
    }
    expect(origin.tip('main')).toBe(base)
    expect(gitServer.requests.filter(({ path }) => path.includes('receive-pack'))).toEqual([])
  })

  test('guards the only push: one file in src/git passes `push` to git or to its server', () => {
    const floor = join(import.meta.dirname, '..', '..', '..', 'src', 'adapters', 'git')
    const pushing = readdirSync(floor).filter((name) =>
      /'(?:push|send-pack|remote-https?|http-push)'|, 'receive-pack',/.test(
        readFileSync(join(floor, name), 'utf8'),
      ),
    )
    expect(pushing).toEqual(['push-merge.ts'])
    expect(readFileSync(join(floor, 'push-merge.ts'), 'utf8').match(/'push'/g)).toHaveLength(1)
  })
})
