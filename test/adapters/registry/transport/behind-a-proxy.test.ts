// Requests to registries through a proxy: what the proxy receives, and that the egress policy still applies.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProxyForUrl } from '../../../../src/ports/proxy.ts'
import { readRegistryAccess } from '../../../../src/adapters/registry/registry-access.ts'
import { RegistryTransport } from '../../../../src/adapters/registry/transport/transport.ts'
import { createCertificateAuthority, startForwardProxy, startTlsTerminator } from '../../../forward-proxy.ts'

const registryHost = 'registry.example'
const proxyPassword = 'p@ss:word'
const transportsToClose: RegistryTransport[] = []
const plainHttpServer = createServer((request, response) => void response.end(`hello ${request.url}`))
const temporaryDirectory = mkdtempSync(join(tmpdir(), 'proxy-'))
const authority = createCertificateAuthority(temporaryDirectory)
const caCertificate = readFileSync(authority.certificateFile, 'utf8')
await new Promise<void>((resolve) => plainHttpServer.listen(0, '127.0.0.1', resolve))
const tlsTerminator = await startTlsTerminator(
  authority.issueCertificate(registryHost),
  (plainHttpServer.address() as AddressInfo).port,
)
const forwardProxy = await startForwardProxy(
  { [`${registryHost}:443`]: tlsTerminator.port, '203.0.114.7:443': tlsTerminator.port },
  `me:${proxyPassword}`,
)
afterEach(async () => {
  forwardProxy.requestedHosts.length = 0
  for (const one of transportsToClose.splice(0)) await one.close()
})
afterAll(async () => {
  await Promise.all([tlsTerminator.close(), forwardProxy.close()])
  plainHttpServer.close()
  rmSync(temporaryDirectory, { recursive: true, force: true })
})

function requestThroughProxy(
  url: string,
  by: 'address' | 'name',
  addresses: readonly string[],
  credential = `me:${encodeURIComponent(proxyPassword)}`,
) {
  const environment = { HTTPS_PROXY: `http://${credential}@127.0.0.1:${forwardProxy.port}` }
  const transport = new RegistryTransport({
    egress: {
      certificates: { [registryHost]: caCertificate },
      proxy: { by, to: (to) => findProxyForUrl(to, environment) },
    },
    resolve: () => Promise.resolve(addresses),
  })
  transportsToClose.push(transport)
  return transport
    .exchange({ method: 'GET', url: new URL(url), headers: {}, bodyLimit: 100, redirects: 0 })
    .then(({ body }) => Buffer.from(body).toString())
}

describe('behind a proxy', () => {
  test('the proxy is asked for a checked address, and the certificate must match the host name', async () => {
    expect(await requestThroughProxy(`https://${registryHost}/v2/`, 'address', ['203.0.114.7'])).toBe(
      'hello /v2/',
    )
    expect(forwardProxy.requestedHosts).toEqual(['203.0.114.7:443'])
  })

  test('the proxy is asked for the host name if the operator configures this', async () => {
    expect(await requestThroughProxy(`https://${registryHost}/v2/`, 'name', ['10.0.0.1'])).toBe('hello /v2/')
    expect(forwardProxy.requestedHosts).toEqual([`${registryHost}:443`])
  })

  test.each([
    ['a name at an internal address', `https://${registryHost}/`, 'address', ['10.0.0.1']],
    [
      'a name with one internal address among others',
      `https://${registryHost}/`,
      'address',
      ['203.0.114.7', '169.254.169.254'],
    ],
    ['an internal address', 'https://10.0.0.1/', 'name', []],
    ['the metadata service', 'https://169.254.169.254/', 'name', []],
    ['an internal name', 'https://registry.corp/', 'name', []],
    ['a port that registries do not use', `https://${registryHost}:22/`, 'name', []],
    ['plain http', `http://${registryHost}/`, 'name', []],
  ] as const)('%s is blocked before any request to the proxy', async (_what, url, by, addresses) => {
    await expect(requestThroughProxy(url, by, addresses)).rejects.toMatchObject({ code: 'blocked' })
    expect(forwardProxy.requestedHosts).toEqual([])
  })

  test('a rejection by the proxy is a network error', async () => {
    const wrong = requestThroughProxy(`https://${registryHost}/`, 'name', [], 'me:wrong')
    await expect(wrong).rejects.toMatchObject({ code: 'network', message: expect.stringContaining('407') })
    await expect(requestThroughProxy('https://other.example/', 'name', [])).rejects.toThrow(
      'the proxy rejected the connection (403)',
    )
  })

  test('the proxy settings of the operator are validated at startup', async () => {
    const HTTPS_PROXY = 'http://proxy.example:3128'
    const read = async (more: Record<string, string>) =>
      (await readRegistryAccess({ HTTPS_PROXY, ...more })).egress?.proxy
    expect((await read({}))?.by).toBe('address')
    expect((await read({ REGISTRY_PROXY: 'name' }))?.by).toBe('name')
    expect(await read({ REGISTRY_PROXY: 'off' })).toBeUndefined()
    await expect(read({ REGISTRY_PROXY: 'no' })).rejects.toThrow('REGISTRY_PROXY')
    await expect(read({ HTTPS_PROXY: 'socks5://secret@x' })).rejects.toThrow(/^HTTPS_PROXY is not/)
  })
})
