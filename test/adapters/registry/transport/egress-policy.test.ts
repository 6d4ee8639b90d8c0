import { describe, expect, test } from '@jest/globals'
import {
  EgressPolicy,
  allowLoopbackRegistries,
} from '../../../../src/adapters/registry/transport/egress-policy.ts'
import { HttpRegistryClient } from '../../../../src/adapters/registry/open-registry.ts'
import { RegistryTokenService } from '../../../../src/adapters/registry/auth/token-service.ts'
import { RegistryTransport } from '../../../../src/adapters/registry/transport/transport.ts'
import { createManualClock } from '../manual-clock.ts'
import { createImageManifest, startScriptedRegistry } from '../scripted-registry.ts'

const requestUrlViaTransport = async (
  url: string,
  resolve?: (name: string) => Promise<readonly string[]>,
) => {
  const transport = new RegistryTransport({ ...(resolve && { resolve }), limits: { connectTimeout: 300 } })
  try {
    return await transport.exchange({
      method: 'GET',
      url: new URL(url),
      headers: {},
      bodyLimit: 100,
      redirects: 0,
    })
  } finally {
    await transport.close()
  }
}

describe('addresses that are not public', () => {
  const literals = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '127.1',
    '0177.0.0.1',
    '0',
    '0.0.0.0',
    '[::]',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '[64:ff9b::7f00:1]',
    '[64:ff9b:1::1]',
    '[2002:7f00:1::]',
    '[2001::1]',
    '[2001:db8::1]',
    '[fe80::1]',
    '[fec0::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[ff02::1]',
    '[100::1]',
    '[5f00::1]',
  ]
  test.each(literals)('%s is blocked as a literal', async (literal) => {
    await expect(requestUrlViaTransport(`https://${literal}/`)).rejects.toMatchObject({ code: 'blocked' })
  })

  test.each(literals.filter((text) => /^[\d.]+$|^\[/.test(text) && !/^\d+$|^0\d|^127\.1$/.test(text)))(
    'a name that resolves to %s is blocked on connection',
    async (literal) => {
      const address = literal.replace(/^\[|\]$/g, '')
      await expect(
        requestUrlViaTransport('https://registry.example/', async () => [address]),
      ).rejects.toMatchObject({ code: 'blocked' })
      await expect(
        requestUrlViaTransport('https://registry.example/', async () => ['8.8.8.8', address]),
      ).rejects.toMatchObject({ code: 'blocked' })
    },
  )

  test('a scoped or malformed address is blocked', async () => {
    for (const address of ['fe80::1%eth0', '', 'localhost', '8.8.8.8/8'])
      await expect(
        requestUrlViaTransport('https://registry.example/', async () => [address]),
      ).rejects.toMatchObject({ code: 'blocked' })
  })

  test.each([
    'localhost',
    'LOCALHOST',
    'localhost.',
    'registry.localhost',
    'printer.local',
    'metadata.google.internal',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    'registry',
    'nas.lan',
    'x.home.arpa',
  ])('the name %s is blocked without a DNS lookup', async (name) => {
    let wasResolved = false
    const resolve = async () => ((wasResolved = true), ['8.8.8.8'])
    await expect(requestUrlViaTransport(`https://${name}/`, resolve)).rejects.toMatchObject({
      code: 'blocked',
    })
    expect(wasResolved).toBe(false)
  })

  test('a name is resolved only once, so a changed DNS answer is never used', async () => {
    // The second DNS answer would be an internal address.
    let questions = 0
    const resolve = async () => (questions++ === 0 ? ['192.0.2.1'] : ['127.0.0.1'])
    await expect(requestUrlViaTransport('https://registry.example/', resolve)).rejects.toMatchObject({
      code: 'blocked',
    })
    expect(questions).toBe(1)
  })
})

describe('schemes, ports and hosts', () => {
  const policy = new EgressPolicy()
  test('plain HTTP is rejected for every host that is not listed', () => {
    expect(() => policy.checkUrl(new URL('http://quay.io/'))).toThrow(/requires TLS/)
    expect(() => policy.checkUrl(new URL('ftp://quay.io/'))).toThrow(/requires TLS/)
    expect(policy.schemeOf('localhost:5000')).toBe('https:')
  })
  test('ports that registries do not use are rejected', () => {
    for (const port of [22, 25, 6379, 8080, 9200])
      expect(() => policy.checkUrl(new URL(`https://quay.io:${port}/`))).toThrow(/port/)
    for (const port of [443, 5000, 8443]) policy.checkUrl(new URL(`https://quay.io:${port}/`))
  })
  test('a user name in a URL is rejected', () => {
    expect(() => policy.checkUrl(new URL('https://quay.io@evil.example/'))).toThrow(/user name/)
  })
  test('a list of hosts excludes all others, and names must match exactly', () => {
    const only = new EgressPolicy({ onlyHosts: ['quay.io'] })
    only.checkUrl(new URL('https://quay.io/'))
    for (const host of ['quay.io.evil.example', 'cdn.quay.io', 'xquay.io'])
      expect(() => only.checkUrl(new URL(`https://${host}/`))).toThrow(/not one of the allowed registries/)
  })
  test('allowing one loopback port allows no other port or host', () => {
    const open = new EgressPolicy(allowLoopbackRegistries('127.0.0.1:5001', 'registry.test:5002'))
    open.checkUrl(new URL('http://127.0.0.1:5001/'))
    open.checkAddresses('registry.test', 5002, ['127.0.0.1'])
    for (const url of ['http://127.0.0.1:5000/', 'http://127.0.0.2:5001/', 'https://127.0.0.1/'])
      expect(() => open.checkUrl(new URL(url))).toThrow(/TLS|public/)
    expect(() => open.checkAddresses('registry.test', 443, ['127.0.0.1'])).toThrow(/public/)
    expect(() => open.checkAddresses('registry.test', 5002, ['10.0.0.1'])).toThrow(/public/)
  })
  test('an IPv6 registry is listed with brackets, as in a URL', () => {
    const hosts = ['[::1]:5002', '[2001:4860::1]']
    const { plainHttp, internal } = allowLoopbackRegistries(...hosts)
    const open = new EgressPolicy({
      plainHttp: plainHttp ?? [],
      internal: internal ?? {},
      onlyHosts: hosts,
      certificates: { '[::1]:5002': 'port', '[::1]': 'all' },
    })
    open.checkUrl(new URL('http://[::1]:5002/'))
    open.checkUrl(new URL('https://[2001:4860::1]/'))
    // The host and port of the first, without brackets, are another address.
    for (const url of ['http://[::1:5002]/', 'https://[::1]/', 'https://[2001:4860::2]/'])
      expect(() => open.checkUrl(new URL(url))).toThrow(/TLS|allowed/)
    expect(open.schemeOf('[::1]:5002')).toBe('http:')
    expect(open.certificatesOf('::1', 5002)).toEqual(['all', 'port'])
    expect(open.certificatesOf('::1', 443)).toEqual(['all'])
    new EgressPolicy({ internal: { '::1': ['::1/128'] } }).checkUrl(new URL('https://[::1]/'))
  })
})

describe('an internal address that the operator allows', () => {
  const policy = new EgressPolicy({
    internal: { 'inside.example': ['10.0.0.0/8'], 'sso.example:8443': ['10.0.0.0/8'] },
  })
  const step = (from: string, to: string) => () => policy.checkHop(new URL(from), new URL(to))
  test.each(['https://inside.example/x', 'https://INSIDE.example./x', 'https://sso.example:8443/token'])(
    'is not available to external registries that redirect to %s',
    (to) => {
      expect(step('https://evil.example/', to)).toThrow(/redirects to .* internal network/)
      expect(step('https://inside.example/', to)).not.toThrow()
    },
  )
  test('can redirect to external hosts', () => {
    expect(step('https://inside.example/', 'https://cdn.example/')).not.toThrow()
    expect(step('https://evil.example/', 'https://sso.example/')).not.toThrow()
  })
  test('receives no token request if an external registry names it as the realm', async () => {
    const resolvedHosts: string[] = []
    const exchange = async ({ url }: { url: URL }) => {
      resolvedHosts.push(url.href)
      return { status: 200, headers: { get: () => undefined }, body: Buffer.from('{"token":"t"}'), url }
    }
    const tokens = new RegistryTokenService({ policy, exchange }, createManualClock())
    const token = (host: string, realm: string) =>
      tokens.token({ host, realm, service: '', scopes: [], credential: { kind: 'anonymous' } })
    await expect(token('evil.example', 'https://inside.example/')).rejects.toMatchObject({ code: 'blocked' })
    expect(resolvedHosts).toEqual([])
    expect(await token('inside.example', 'https://inside.example/')).toBe('t')
  })
})

describe('redirects', () => {
  test('a redirect to an internal address, another scheme, or in a loop is blocked', async () => {
    const registry = await startScriptedRegistry()
    const client = new HttpRegistryClient({
      clock: createManualClock(),
      egress: allowLoopbackRegistries(registry.host),
    })
    const targets: string[] = [
      'http://127.0.0.1:1/x',
      'https://169.254.169.254/latest/meta-data',
      'https://[::1]/',
      'https://localhost/',
      'file:///etc/passwd',
      'gopher://quay.io/',
      'http://',
    ]
    for (const target of targets) {
      registry.script = (_, response) => void response.writeHead(307, { location: target }).end()
      expect(await client.resolve(`${registry.host}/a/b:1`)).toMatchObject({ kind: 'blocked' })
    }
    registry.script = (request, response) => void response.writeHead(307, { location: request.path }).end()
    expect(await client.resolve(`${registry.host}/a/b:1`)).toEqual({
      kind: 'blocked',
      reason: `${registry.host} redirects more than 3 times`,
    })
    await client.close()
    await registry.close()
  })

  test('a redirect from HTTPS to HTTP is blocked even if HTTP is allowed', async () => {
    const secure = await startScriptedRegistry({ tls: true })
    const plain = await startScriptedRegistry()
    plain.add('a/b', '1')
    const port = secure.host.split(':')[1] ?? ''
    const { loopbackCertificate } = await import('../scripted-registry.ts')
    const client = new HttpRegistryClient({
      clock: createManualClock(),
      egress: {
        plainHttp: [plain.host],
        internal: { [secure.host]: ['127.0.0.1/32'], [plain.host]: ['127.0.0.1/32'] },
        certificates: { '127.0.0.1': loopbackCertificate },
      },
    })
    secure.script = (request, response) =>
      void response.writeHead(307, { location: `${plain.origin}${request.path}` }).end()
    expect(await client.resolve(`127.0.0.1:${port}/a/b:1`)).toMatchObject({
      kind: 'blocked',
      reason: expect.stringContaining('from https to http'),
    })
    expect(plain.requests).toHaveLength(0)
    await Promise.all([client.close(), secure.close(), plain.close()])
  })

  test('a redirect to another port of the same host receives no authorization or cookies', async () => {
    const registry = await startScriptedRegistry()
    const storage = await startScriptedRegistry()
    storage.add('a/b', '1', createImageManifest('x'))
    registry.script = (request, response) => {
      if (request.headers.authorization === undefined)
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      else response.writeHead(307, { location: `${storage.origin}${request.path}` }).end()
    }
    const client = new HttpRegistryClient({
      clock: createManualClock(),
      egress: allowLoopbackRegistries(registry.host, storage.host),
      credentials: [{ find: async () => ({ kind: 'basic', username: 'u', password: 'secret' }) }],
    })
    expect(await client.resolve(`${registry.host}/a/b:1`)).toMatchObject({ kind: 'ok' })
    expect(registry.requests.at(-1)?.headers.authorization).toMatch(/^Basic /)
    expect(storage.requests).toHaveLength(1)
    expect(storage.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(storage.requests[0]?.headers).not.toHaveProperty('cookie')
    await Promise.all([client.close(), registry.close(), storage.close()])
  })
})

test('references to internal addresses are blocked before any DNS lookup', async () => {
  const client = new HttpRegistryClient({
    clock: createManualClock(),
    resolve: () => Promise.reject(new Error('asked')),
  })
  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433.',
    '0x7f.1',
    '10.1.2.3:5000',
    'localhost',
    'localhost:5000',
    '169.254.169.254',
    'metadata.google.internal',
    'registry:5000',
    '0.0.0.0',
    '0177.0.0.1',
  ])
    expect((await client.resolve(`${host}/a/b:1`)).kind).toMatch(/^(blocked|malformed)$/)
  await client.close()
})
