import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toPullNumber, toTreeSha } from '../../../src/pull-request/ids.ts'
import { parseGitVersion, readGitVersion } from '../../../src/adapters/git/run-git.ts'
import { openGitMirror, type GitMirror } from '../../../src/adapters/git/mirror.ts'
import {
  createOriginRepository,
  createTemporaryDirectory,
  type OriginRepository,
  openAnonymousMirror,
} from './origin.ts'
import { startSmartHttpServer, type SmartHttpServer } from './smart-http.ts'

const gitCredentials = { username: 'x-access-token', password: 'ghs_verySecretToken+/=0123456789' }

let temporaryDirectory: ReturnType<typeof createTemporaryDirectory>
let origin: OriginRepository
let gitMirror: GitMirror
beforeEach(async () => {
  temporaryDirectory = createTemporaryDirectory('fetch')
  origin = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
  origin.branch('main', origin.commit({ x: '1' }))
  gitMirror = await openAnonymousMirror(join(temporaryDirectory.path, 'mirror.git'), origin.url)
})
afterEach(async () => {
  await gitMirror.close()
  temporaryDirectory.remove()
})

describe('a fetch', () => {
  test('gets the branch tip and the pull request head', async () => {
    const head = origin.commit({ x: '2' }, [origin.tip('main')])
    origin.pull(7, head)
    expect(await gitMirror.tip('main')).toBeUndefined()
    await gitMirror.fetch('main', toPullNumber(7))
    expect(await gitMirror.tip('main')).toBe(origin.tip('main'))
    expect(await gitMirror.pullHead(toPullNumber(7))).toBe(head)
    expect(await gitMirror.contains(head, origin.tip('main'))).toBe(true)
    expect(await gitMirror.contains(origin.tip('main'), head)).toBe(false)
    expect(await gitMirror.contains(head, head)).toBe(true)
  })

  test('gets no tag and no other branch', async () => {
    origin.branch('secret', origin.commit({ s: '1' }))
    origin.git(['tag', 'v1', origin.tip('main')])
    await gitMirror.fetch('main')
    const refs = origin.git([
      '--git-dir',
      join(temporaryDirectory.path, 'mirror.git'),
      'for-each-ref',
      '--format=%(refname)',
    ])
    expect(refs.split('\n')).toEqual([expect.stringMatching(/^refs\/catalog-bot\/heads\/[0-9a-f]{64}$/)])
    await expect(gitMirror.treeOf(origin.tip('secret'))).rejects.toMatchObject({ code: 'missing' })
  })

  test('follows a force-pushed branch and head', async () => {
    origin.pull(1, origin.commit({ x: '2' }))
    await gitMirror.fetch('main', toPullNumber(1))
    const [branch, head] = [origin.commit({ x: '3' }), origin.commit({ x: '4' })]
    origin.branch('main', branch)
    origin.pull(1, head)
    await gitMirror.fetch('main', toPullNumber(1))
    expect([await gitMirror.tip('main'), await gitMirror.pullHead(toPullNumber(1))]).toEqual([branch, head])
  })

  test('of a deleted branch removes it, and still gets the pull request', async () => {
    const head = origin.commit({ x: '2' })
    origin.pull(1, head)
    await gitMirror.fetch('main')
    origin.git(['update-ref', '-d', 'refs/heads/main'])
    await gitMirror.fetch('main', toPullNumber(1))
    expect(await gitMirror.tip('main')).toBeUndefined()
    expect(await gitMirror.pullHead(toPullNumber(1))).toBe(head)
    await gitMirror.fetch('never-there', toPullNumber(99))
    expect(await gitMirror.pullHead(toPullNumber(99))).toBeUndefined()
  })

  test('separates branches with names that conflict as files', async () => {
    await gitMirror.fetch('main')
    origin.branch('a/b', origin.tip('main'))
    await gitMirror.fetch('a/b')
    origin.git(['update-ref', '-d', 'refs/heads/a/b'])
    origin.branch('a', origin.commit({ x: 'a' }))
    await gitMirror.fetch('a')
    expect(await gitMirror.tip('a')).toBe(origin.tip('a'))
    origin.branch('A', origin.commit({ x: 'A' }))
    await gitMirror.fetch('A')
    expect(await gitMirror.tip('a')).toBe(origin.tip('a'))
  })

  test('can run many times concurrently', async () => {
    for (let at = 1; at <= 20; at++) origin.pull(at, origin.commit({ x: String(at) }, [origin.tip('main')]))
    await Promise.all(Array.from({ length: 20 }, (_, at) => gitMirror.fetch('main', toPullNumber(at + 1))))
    for (let at = 1; at <= 20; at++) expect(await gitMirror.pullHead(toPullNumber(at))).toBeDefined()
  })

  test('accepts an old commit with malformed author lines', async () => {
    const tree = origin.git(['mktree'], '')
    const raw = `tree ${tree}\nauthor  <> 0 +051800\ncommitter No Mail <> 01234 +0000\n\nold\n`
    const commit = origin.git(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], raw)
    origin.git(['update-ref', 'refs/heads/old', commit])
    await gitMirror.fetch('old')
    expect(await gitMirror.tip('old')).toBe(commit)
  })
})

test('branch names that git forbids, or that could be an option or a pattern, are rejected', async () => {
  const bad = [
    '',
    '-x',
    'a b',
    'a..b',
    'a:b',
    '+a',
    'a^',
    'a~1',
    'a*',
    'a?',
    'a[b',
    'a\\b',
    'a//b',
    '/a',
    'a/',
    '.a',
    'a/.b',
    'a.lock',
    'a.',
    '@',
    'a@{1}',
    'a\nb',
    'a\0',
    'x'.repeat(241),
    '\ud800',
  ]
  // A plus is allowed in a name: it has a meaning only at the start of a refspec, which already has our plus.
  for (const name of bad.filter((name) => name !== '+a'))
    await expect(gitMirror.fetch(name)).rejects.toMatchObject({ code: 'refused' })
  await expect(gitMirror.fetch('+a')).resolves.toBeUndefined()
  await expect(gitMirror.fetch('release-4.19/ünï@x')).resolves.toBeUndefined()
})

test('a URL must use HTTPS or this machine, and must not contain a credential', async () => {
  const open = async (url: string) => {
    const opened = await openAnonymousMirror(join(temporaryDirectory.path, 'other.git'), url)
    await opened.close()
  }
  for (const url of [
    'https://github.com/owner/name',
    'https://github.example:8443/owner/name.git',
    'http://127.0.0.1:1/x',
    'http://localhost/x',
    'http://[::1]:1/x',
  ])
    await open(url)
  for (const url of [
    'http://github.com/owner/name',
    'http://127.0.0.1.example.com/x',
    'https://token@github.com/owner/name',
    'https://user:token@github.com/owner/name',
    'ssh://git@github.com/owner/name',
    'git@github.com:owner/name',
    'git://github.com/owner/name',
    'ext::sh -c touch% /tmp/x',
    '--upload-pack=x',
    '/tmp/x',
    'file://host/x',
    'https://github.com/owner/name?x=1',
    'https://github.com/owner/\nname',
    'https://github.com\\@evil.example/x',
  ])
    await expect(open(url)).rejects.toMatchObject({ code: 'refused' })
})

describe('the environment', () => {
  test('of the machine is ignored, including its global configuration, hooks, and URL rewrites', async () => {
    const home = join(temporaryDirectory.path, 'home')
    mkdirSync(home)
    const hooks = join(temporaryDirectory.path, 'hooks')
    mkdirSync(hooks)
    const proof = join(temporaryDirectory.path, 'ran')
    for (const hook of ['reference-transaction', 'post-checkout', 'pre-push', 'post-rewrite']) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${proof}\n`)
      chmodSync(join(hooks, hook), 0o755)
    }
    writeFileSync(
      join(home, '.gitconfig'),
      `[core]\nhooksPath=${hooks}\n[url "https://evil.example/"]\ninsteadOf=file://\n[merge "x"]\ndriver=touch ${proof}\n`,
    )
    const before = { ...process.env }
    Object.assign(process.env, {
      HOME: home,
      GIT_DIR: '/nonexistent',
      GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
      GIT_TRACE: join(temporaryDirectory.path, 'trace'),
      GIT_SSH_COMMAND: `touch ${proof}`,
    })
    try {
      await gitMirror.fetch('main')
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
      Object.assign(process.env, before)
    }
    expect(await gitMirror.tip('main')).toBe(origin.tip('main'))
    expect(existsSync(proof)).toBe(false)
    expect(existsSync(join(temporaryDirectory.path, 'trace'))).toBe(false)
  })

  test('provides the git version, and a version without merge-tree is rejected', async () => {
    expect(gitMirror.version).toBe(await readGitVersion())
    expect(parseGitVersion('git version 2.38.0\n')).toBe('2.38.0')
    expect(parseGitVersion('git version 2.50.1 (Apple Git-155)\n')).toBe('2.50.1')
    expect(parseGitVersion('git version 3.0\n')).toBe('3.0')
    for (const old of ['git version 2.37.9', 'git version 1.99.0', 'hg 1'])
      expect(() => parseGitVersion(old)).toThrow(expect.objectContaining({ code: 'unsupported' }))
  })

  test('without a git program is rejected as `unsupported`', async () => {
    const path = process.env['PATH']
    process.env['PATH'] = temporaryDirectory.path
    try {
      await expect(readGitVersion()).rejects.toMatchObject({ code: 'unsupported' })
    } finally {
      process.env['PATH'] = path
    }
  })
})

describe('a mirror on disk', () => {
  test('is reused by the next process, which removes the lock files of a dead one', async () => {
    await gitMirror.fetch('main')
    await gitMirror.close()
    const directory = join(temporaryDirectory.path, 'mirror.git')
    const heads = join(directory, 'refs', 'catalog-bot', 'heads')
    for (const name of readdirSync(heads)) writeFileSync(join(heads, `${name}.lock`), '')
    writeFileSync(join(directory, 'packed-refs.lock'), '')
    writeFileSync(join(directory, 'objects', 'pack', 'tmp_pack_x'), 'half')
    gitMirror = await openAnonymousMirror(directory, origin.url)
    expect(await gitMirror.tip('main')).toBe(origin.tip('main'))
    origin.branch('main', origin.commit({ x: '9' }))
    await gitMirror.fetch('main')
    expect(await gitMirror.tip('main')).toBe(origin.tip('main'))
    expect(readdirSync(join(directory, 'objects', 'pack')).filter((name) => name.startsWith('tmp'))).toEqual(
      [],
    )
  })

  test('with damaged objects rejects with `corrupt`, and the next fetch recreates it', async () => {
    await gitMirror.fetch('main')
    const tip = origin.tip('main')
    expect(await gitMirror.treeOf(tip)).toBe(origin.tree(tip))
    await gitMirror.close()
    const directory = join(temporaryDirectory.path, 'mirror.git')
    const packs = join(directory, 'objects', 'pack')
    for (const name of readdirSync(packs).filter((name) => name.endsWith('.pack'))) {
      chmodSync(join(packs, name), 0o644)
      const bytes = readFileSync(join(packs, name))
      writeFileSync(join(packs, name), bytes.fill(0x55, 14, bytes.length - 20))
    }
    gitMirror = await openAnonymousMirror(directory, origin.url)
    await expect(gitMirror.treeOf(tip)).rejects.toMatchObject({ code: 'corrupt' })
    await gitMirror.fetch('main')
    expect(await gitMirror.treeOf(tip)).toBe(origin.tree(tip))
    expect(readdirSync(temporaryDirectory.path).filter((name) => name.includes('damaged'))).toEqual([])
  })

  test('does not accumulate packs', async () => {
    for (let at = 1; at <= 60; at++) {
      origin.branch('main', origin.commit({ x: String(at) }, [origin.tip('main')]))
      await gitMirror.fetch('main')
    }
    const packs = readdirSync(join(temporaryDirectory.path, 'mirror.git', 'objects', 'pack')).filter((name) =>
      name.endsWith('.pack'),
    )
    expect(packs.length).toBeLessThan(50)
    expect(await gitMirror.treeOf(origin.tip('main'))).toBe(origin.tree(origin.tip('main')))
  })

  test('that is closed rejects everything with `aborted`', async () => {
    await gitMirror.fetch('main')
    const tree = await gitMirror.treeOf(origin.tip('main'))
    await gitMirror.close()
    await expect(gitMirror.fetch('main')).rejects.toMatchObject({ code: 'aborted' })
    await expect(gitMirror.list(tree)).rejects.toMatchObject({ code: 'aborted' })
    await expect(gitMirror.entry(tree, 'x')).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('over HTTP', () => {
  let server: SmartHttpServer
  beforeEach(async () => {
    server = await startSmartHttpServer(origin.directory, gitCredentials)
  })
  afterEach(() => server.close())

  const over = (credential: () => Promise<typeof gitCredentials | undefined>, timeouts = {}) =>
    openGitMirror({
      directory: join(temporaryDirectory.path, 'http.git'),
      url: `${server.url}/origin.git`,
      credential,
      timeouts,
    })

  test('a tree with an entry `..` is rejected as corrupt, and the branch is still fetched alone (T08)', async () => {
    const http = await over(async () => gitCredentials)
    await http.fetch('main')
    const blob = origin.git(['hash-object', '-w', '--stdin'], 'x')
    const tree = toTreeSha(origin.git(['mktree'], `100644 blob ${blob}\t..\n`))
    const raw = `tree ${tree}\nparent ${origin.tip('main')}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n`
    const head = origin.git(['hash-object', '-t', 'commit', '-w', '--stdin'], raw)
    origin.git(['update-ref', 'refs/pull/1/head', head])
    await expect(http.fetch('main', toPullNumber(1))).rejects.toMatchObject({
      code: 'corrupt',
      retryable: false,
    })
    expect(await http.pullHead(toPullNumber(1))).toBeUndefined()
    await http.fetch('main')
    expect(await http.tip('main')).toBe(origin.tip('main'))
    await http.close()
  })

  test('the password authenticates the mirror, and is requested for each fetch', async () => {
    let asked = 0
    const http = await over(async () => {
      asked += 1
      return gitCredentials
    })
    await http.fetch('main')
    await http.fetch('main')
    expect(asked).toBe(2)
    expect(await http.tip('main')).toBe(origin.tip('main'))
    expect(server.requests.filter(({ authorized }) => authorized).length).toBeGreaterThan(2)
    await http.close()
  })

  test('the password is in no argument, environment, file, or error', async () => {
    const forms = [
      gitCredentials.password,
      encodeURIComponent(gitCredentials.password),
      Buffer.from(`${gitCredentials.username}:${gitCredentials.password}`).toString('base64'),
    ]
    const found: string[] = []
    let looked = 0
    server.fault = async (_request, response) => {
      // Every git process on this machine at the time of the request.
      for (const text of readProcesses().filter(([line]) => line.includes('git'))) {
        looked += 1
        if (forms.some((form) => text.some((part) => part.includes(form)))) found.push(text[0])
      }
      if (server.requests.length > 3) {
        response.writeHead(500).end(forms.join(' '))
        return true
      }
      return false
    }
    const http = await over(async () => gitCredentials)
    await http.fetch('main').catch(() => undefined)
    const error: unknown = await http.fetch('main').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'GitError', code: 'unreachable', retryable: true })
    const shown = String(error) + JSON.stringify(error) + String((error as Error).stack)
    for (const form of forms) expect(shown).not.toContain(form)
    expect(looked).toBeGreaterThan(3)
    expect(found).toEqual([])
    for (const path of listFilesRecursively(join(temporaryDirectory.path, 'http.git'))) {
      const content = readFileSync(path, 'latin1')
      for (const form of forms) expect(content).not.toContain(form)
    }
    await http.close()
  })

  test('a wrong, missing, or unavailable password is `unauthorized`', async () => {
    for (const credential of [
      async () => ({ ...gitCredentials, password: 'wrong' }),
      async () => undefined,
      async () => Promise.reject(new Error('no token today')),
      async () => ({ ...gitCredentials, password: 'a\nhost=evil' }),
    ]) {
      const http = await over(credential)
      await expect(http.fetch('main')).rejects.toMatchObject({ code: 'unauthorized' })
      await http.close()
    }
  })

  test('no repository is `missing`, a broken response `unreachable`, and redirects fail', async () => {
    const http = await over(async () => gitCredentials)
    server.fault = (_, response) => (response.writeHead(404).end(), true)
    await expect(http.fetch('main')).rejects.toMatchObject({ code: 'missing' })
    const elsewhere: string[] = []
    server.fault = (request, response) => {
      elsewhere.push(request.url ?? '')
      response.writeHead(301, { location: `${server.url}/other.git/info/refs?service=git-upload-pack` }).end()
      return true
    }
    await expect(http.fetch('main')).rejects.toMatchObject({ name: 'GitError', retryable: false })
    expect(elsewhere.filter((path) => path.startsWith('/other'))).toEqual([])
    server.fault = (_, response) => (response.writeHead(502).end(), true)
    await expect(http.fetch('main')).rejects.toMatchObject({ code: 'unreachable', retryable: true })
    server.fault = (request, response) => {
      if (request.method === 'GET') return false
      response.writeHead(200, {
        'content-type': 'application/x-git-upload-pack-result',
        'content-length': '5000',
      })
      response.write('0010')
      response.destroy()
      return true
    }
    await expect(http.fetch('main')).rejects.toMatchObject({ code: 'unreachable' })
    await server.close()
    await expect(http.fetch('main')).rejects.toMatchObject({ code: 'unreachable' })
    await http.close()
  })

  test('a silent server is `timeout`, closing is `aborted`, and no process is left', async () => {
    const http = await over(async () => gitCredentials, { fetch: 700 })
    let asked = () => undefined as void
    server.fault = () => (asked(), true)
    await expect(http.fetch('main')).rejects.toMatchObject({ code: 'timeout', retryable: true })
    const arrived = new Promise<void>((resolve) => void (asked = resolve))
    const hanging = http.fetch('main')
    await Promise.all([
      arrived.then(() => http.close()),
      expect(hanging).rejects.toMatchObject({ code: 'aborted' }),
    ])
    expect(readProcesses().filter(([line]) => line.includes(server.url))).toEqual([])
  })

  test('the text of a server error does not determine the error code', async () => {
    const http = await over(async () => gitCredentials)
    server.fault = (_, response) => {
      response
        .writeHead(500, { 'content-type': 'text/plain' })
        .end("fatal: couldn't find remote ref refs/heads/main\n")
      return true
    }
    await expect(http.fetch('main')).rejects.toMatchObject({ code: 'unreachable' })
    await http.close()
  })
})

function listFilesRecursively(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** The command line and the environment of each process. */
function readProcesses(): [string, string][] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const read = (path: string) => readTextOrEmptyString(() => readFileSync(path, 'latin1'))
  return pids.map((pid) => [read(`/proc/${pid}/cmdline`), read(`/proc/${pid}/environ`)])
}

function readTextOrEmptyString(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
