// A GitHub Enterprise Server with a certificate of the company, behind a proxy that requires a password. A pull request
// is read, fetched, and merged there, and only the proxy receives that password.
import { afterAll, describe, expect, test } from '@jest/globals'
import { execFile, execFileSync, type ExecFileException } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildCatalogBotCli } from '../../bench/built-command.ts'
import { startDemoEnvironment, demoRepositoryName } from '../../sandbox/demo/demo-environment.ts'
import { openDemoStory } from '../../sandbox/demo/stories.ts'
import { createCertificateAuthority, startForwardProxy, startTlsTerminator } from '../forward-proxy.ts'
import { compileCacheDirectory } from '../compile-cache.ts'

const [program = '', ...programArguments] = await buildCatalogBotCli()
const githubHost = 'github.company.example'
const proxyPassword = 'p@ss:word!'
const appPermissions = { contents: 'write', pull_requests: 'write', issues: 'write', checks: 'write', actions: 'write' } as const // prettier-ignore

const temporaryDirectory = mkdtempSync(join(tmpdir(), 'company-'))
const demo = await startDemoEnvironment({ directory: temporaryDirectory })
demo.github.webhooks.drop()
const authority = createCertificateAuthority(join(temporaryDirectory, 'authority'))
const caCertificatePath = authority.certificateFile
const tlsFrontend = await startTlsTerminator(authority.issueCertificate(githubHost), demo.github.port)
const forwardProxy = await startForwardProxy(
  { [`${githubHost}:443`]: tlsFrontend.port },
  `bot:${proxyPassword}`,
)
installGitCallRecorder()
afterAll(async () => {
  await Promise.all([tlsFrontend.close(), forwardProxy.close()])
  await demo.stop()
  rmSync(temporaryDirectory, { recursive: true, force: true, maxRetries: 10 })
})

/** A wrapper before git on the PATH that records its arguments and environment. */
function installGitCallRecorder(): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  mkdirSync(join(temporaryDirectory, 'bin'))
  const shim = join(temporaryDirectory, 'bin', 'git')
  writeFileSync(
    shim,
    `#!/bin/sh\n{ echo "$@"; env; } >>${join(temporaryDirectory, 'git-given')}\nexec ${real} "$@"\n`,
  )
  chmodSync(shim, 0o755)
}

function runOnceCommand(
  environment: Record<string, string>,
): Promise<{ code: number; out: string; err: string }> {
  const env: NodeJS.ProcessEnv = {
    PATH: `${join(temporaryDirectory, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: temporaryDirectory,
    GITHUB_API_URL: `https://${githubHost}/api/v3`,
    GITHUB_THROTTLE: 'off',
    GITHUB_TOKEN: demo.github.installationTokenFor(demoRepositoryName, appPermissions),
    HTTPS_PROXY: `http://bot:${encodeURIComponent(proxyPassword)}@127.0.0.1:${forwardProxy.port}`,
    NODE_EXTRA_CA_CERTS: caCertificatePath,
    INSECURE_REGISTRIES: demo.registry.host,
    LOG_LEVEL: 'trace',
    CATALOG_BOT_CACHE: compileCacheDirectory,
    ...environment,
  }
  const command = [...programArguments, 'once', '--repository', demoRepositoryName]
  return new Promise((resolve) =>
    execFile(
      program,
      command,
      { env, maxBuffer: 1 << 26 },
      (error: ExecFileException | null, out: string, err: string) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  )
}

describe('behind a proxy, with a private certificate authority', () => {
  test('a pull request is merged entirely through the proxy, and only the proxy receives its password', async () => {
    const { pull } = await openDemoStory(demo, 'good update')
    const ran = await runOnceCommand({})
    expect({ out: ran.out, merged: pull.merged !== null }).toEqual({
      out: expect.stringContaining(`#${pull.number} merged`),
      merged: true,
    })
    expect(new Set(forwardProxy.requestedHosts)).toEqual(new Set([`${githubHost}:443`]))
    const given = readFileSync(join(temporaryDirectory, 'git-given'), 'utf8')
    expect(given).toContain('fetch')
    expect(given).toContain('push')
    for (const text of [given, ran.out, ran.err])
      for (const form of [
        proxyPassword,
        encodeURIComponent(proxyPassword),
        Buffer.from(`bot:${proxyPassword}`).toString('base64'),
      ])
        expect(text.includes(form)).toBe(false)
  })

  test('no certificate is trusted without the authority', async () => {
    const ran = await runOnceCommand({ NODE_EXTRA_CA_CERTS: '' })
    expect(ran).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('identify the owner of the token'),
    })
  })
})
