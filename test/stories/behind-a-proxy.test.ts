// A GitHub Enterprise Server with a certificate of the company's own, behind a proxy that wants a password: a pull request is read,
// fetched and merged there, and nobody but the proxy gets to see that password.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFile, execFileSync, type ExecFileException } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDemoWorld, repositoryName, type DemoWorld } from '../../sandbox/demo/demo-world.ts'
import { stories } from '../../sandbox/demo/stories.ts'
import {
  makeAuthority,
  startConnectProxy,
  startTlsFront,
  type ConnectProxy,
  type TestServer,
} from '../connect-proxy.ts'
import { keptCompiled } from '../kept-compiled.ts'

const host = 'github.company.example'
const password = 'p@ss:word!'
const permissions = { contents: 'write', pull_requests: 'write', issues: 'write', checks: 'write', actions: 'write' } as const // prettier-ignore

let directory: string
let coast: DemoWorld
let front: TestServer
let proxy: ConnectProxy
let authority: string
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'company-'))
  coast = await openDemoWorld({ directory })
  coast.github.webhooks.drop()
  const made = makeAuthority(join(directory, 'authority'))
  authority = made.file
  front = await startTlsFront(made.keyOf(host), coast.github.port)
  proxy = await startConnectProxy({ [`${host}:443`]: front.port }, `bot:${password}`)
  watchGit()
})
afterAll(async () => {
  await Promise.all([front.close(), proxy.close()])
  await coast.stop()
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
})

/** A git before git on the PATH, which writes down what it is given: arguments, and environment. */
function watchGit(): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  mkdirSync(join(directory, 'bin'))
  const shim = join(directory, 'bin', 'git')
  writeFileSync(shim, `#!/bin/sh\n{ echo "$@"; env; } >>${join(directory, 'git-given')}\nexec ${real} "$@"\n`)
  chmodSync(shim, 0o755)
}

function once(environment: Record<string, string>): Promise<{ code: number; out: string; err: string }> {
  const env: NodeJS.ProcessEnv = {
    PATH: `${join(directory, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: directory,
    GITHUB_API_URL: `https://${host}/api/v3`,
    GITHUB_THROTTLE: 'off',
    GITHUB_TOKEN: coast.github.installationTokenFor(repositoryName, permissions),
    HTTPS_PROXY: `http://bot:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}`,
    NODE_EXTRA_CA_CERTS: authority,
    INSECURE_REGISTRIES: coast.registry.host,
    LOG_LEVEL: 'trace',
    CATALOG_BOT_CACHE: keptCompiled,
    ...environment,
  }
  const cli = join(import.meta.dirname, '../../src/cli.ts')
  const command = ['--no-warnings', cli, 'once', '--repository', repositoryName]
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      command,
      { env, maxBuffer: 1 << 26 },
      (error: ExecFileException | null, out: string, err: string) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  )
}

describe('behind a proxy, with an authority of one’s own', () => {
  test('a pull request is merged, all of it through the proxy, whose password nobody else is given', async () => {
    const [good] = stories
    if (good === undefined) throw new Error('the demo has no story')
    const pull = await coast.github.openPull(good.open(coast))
    const ran = await once({})
    expect({ out: ran.out, merged: pull.merged !== null }).toEqual({
      out: expect.stringContaining(`#${pull.number} merged`),
      merged: true,
    })
    expect(new Set(proxy.asked)).toEqual(new Set([`${host}:443`]))
    const given = readFileSync(join(directory, 'git-given'), 'utf8')
    expect(given).toContain('fetch')
    expect(given).toContain('push')
    for (const text of [given, ran.out, ran.err])
      for (const form of [
        password,
        encodeURIComponent(password),
        Buffer.from(`bot:${password}`).toString('base64'),
      ])
        expect(text.includes(form)).toBe(false)
  }, 180_000)

  test('without the authority nothing is believed', async () => {
    const ran = await once({ NODE_EXTRA_CA_CERTS: '' })
    expect(ran).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('ask whose the token is'),
    })
  }, 90_000)
})
