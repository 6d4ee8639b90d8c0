// How git uses a proxy: its settings, and the answers of its credential helper.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetchAdvertisedRefs } from '../../../src/adapters/git/fetch.ts'
import { createGitRemote } from '../../../src/adapters/git/remote.ts'
import { buildGitTransportConfig } from '../../../src/adapters/git/run-git.ts'

const proxyPassword = 'p@ss:word'
const proxyEnvironmentVariables = {
  HTTPS_PROXY: `http://bot:${encodeURIComponent(proxyPassword)}@proxy.example:3128`,
}
const createProxiedGitRemote = (url: string, given: Record<string, string> = proxyEnvironmentVariables) =>
  createGitRemote(url, () => Promise.resolve(undefined), given)
const proxiedGitRemote = createProxiedGitRemote('https://github.com/coast/operators.git')

describe('the transport configuration', () => {
  test('contains the proxy, but its password in no form', () => {
    const settings = JSON.stringify(buildGitTransportConfig(proxiedGitRemote, true, {}))
    expect(settings).toContain('http://bot@proxy.example:3128')
    for (const form of [
      proxyPassword,
      encodeURIComponent(proxyPassword),
      Buffer.from(proxyPassword).toString('base64'),
    ])
      expect(settings).not.toContain(form)
  })

  test('has no proxy for hosts in NO_PROXY, for this machine, or if none is set', () => {
    const direct = createProxiedGitRemote('https://github.com/a/b.git', {
      ...proxyEnvironmentVariables,
      NO_PROXY: 'github.com',
    })
    for (const one of [
      direct,
      createProxiedGitRemote('http://127.0.0.1:1/a/b.git'),
      createProxiedGitRemote('https://github.com/a/b.git', {}),
    ])
      expect(buildGitTransportConfig(one, false, {})).toEqual([])
  })

  test('rejects a malformed proxy URL before git runs', () => {
    expect(() =>
      createProxiedGitRemote('https://github.com/a/b.git', { HTTPS_PROXY: 'socks5://u:secret@p' }),
    ).toThrow(/^HTTPS_PROXY is not a proxy URL/)
  })

  test('does not fetch advertised refs directly if there is a proxy', async () => {
    let asked = 0
    const server = createServer((_request, response) => {
      asked += 1
      response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const here = createProxiedGitRemote(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a/b.git`)
    const { signal } = new AbortController()
    await fetchAdvertisedRefs(here, ['refs/heads/main'], signal)
    await fetchAdvertisedRefs({ ...here, proxy: proxiedGitRemote.proxy }, ['refs/heads/main'], signal)
    server.close()
    server.closeAllConnections()
    expect(asked).toBe(1)
  })

  test.each([
    ['the proxy', 'proxy.example:3128', 'for-proxy'],
    ['the server', 'github.com', 'for-server'],
    ['another host', 'elsewhere.example', 'for-server'],
  ])('has a credential helper that answers for %s with the expected password', (_what, host, expected) => {
    const helper =
      buildGitTransportConfig(proxiedGitRemote, true, {}).findLast(
        ([name]) => name === 'credential.helper',
      )?.[1] ?? ''
    const script = `${helper.slice(1)} get`
    const asked = `protocol=https\nhost=${host}\nusername=bot\n\n`
    const ran = spawnSync('sh', ['-c', `(${script}) 3<<A 4<<B\nfor-server\nA\nfor-proxy\nB\n`], {
      input: asked,
      encoding: 'utf8',
    })
    expect(ran.stdout.trim()).toBe(expected)
    const stored = spawnSync('sh', ['-c', `${helper.slice(1)} store 3</dev/null 4</dev/null`], {
      input: asked,
      encoding: 'utf8',
    })
    expect(stored).toMatchObject({ status: 0, stdout: '' })
  })
})
