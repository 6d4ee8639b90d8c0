// Bearer tokens: which service is asked, how often, and which hosts never receive a password.
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { RegistryCredential } from '../../../../src/adapters/registry/auth/credentials.ts'
import {
  allowLoopbackRegistries,
  EgressPolicy,
  type EgressOptions,
} from '../../../../src/adapters/registry/transport/egress-policy.ts'
import { HttpRegistryClient } from '../../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../../src/adapters/registry/registry-client.ts'
import {
  createStaticCredentialSource,
  sendRegistryError,
  startScriptedRegistry,
  type ScriptedRegistryRequest,
} from '../scripted-registry.ts'
import {
  clock,
  closeAfterTest,
  registryServer,
  secondRegistryServer as tokenService,
  startRegistriesBeforeEach,
} from '../registry-fixture.ts'

let registryClient: RegistryClient
const robotAccountCredential: RegistryCredential = { kind: 'basic', username: 'org+robot', password: 'a:b' }

/** The registry requires a token for the exact repository; the token service grants every requested scope. */
function requireBearerTokens(
  realm = `${tokenService.origin}/token`,
  extra: Record<string, unknown> = {},
): void {
  registryServer.script = ({ path, headers }, response) => {
    const repository = /^\/v2\/(.+)\/(?:manifests|blobs)\//.exec(path)?.[1] ?? ''
    const scope = `repository:${repository}:pull`
    if (headers.authorization === `Bearer ${Buffer.from(scope).toString('hex')}`) return
    const error = headers.authorization === undefined ? '' : ',error="insufficient_scope"'
    response
      .writeHead(401, {
        'www-authenticate': `Bearer realm="${realm}",service="r.test",scope="${scope}"${error}`,
      })
      .end()
  }
  tokenService.script = ({ query }, response) => {
    const token = Buffer.from(query.get('scope') ?? '').toString('hex')
    response.writeHead(200).end(JSON.stringify({ token, expires_in: 300, ...extra }))
  }
}

function createTestRegistryClient(
  credential?: RegistryCredential,
  egress: EgressOptions = {},
): RegistryClient {
  registryClient = closeAfterTest(
    new HttpRegistryClient({
      clock,
      egress: { ...allowLoopbackRegistries(registryServer.host, tokenService.host), ...egress },
      credentials: credential ? [createStaticCredentialSource({ [registryServer.host]: credential })] : [],
      limits: { attempts: 1 },
    }),
  )
  return registryClient
}
const resolveTestImage = (name: string) => registryClient.resolve(`${registryServer.host}/${name}`)
const countBasicAuthRequests = (requests: ScriptedRegistryRequest[]) =>
  requests.filter(({ headers }) => headers.authorization?.startsWith('Basic ')).length

startRegistriesBeforeEach()
beforeEach(() => {
  for (const name of ['org/a', 'org/b']) for (const tag of ['1', '2', '3']) registryServer.add(name, tag)
})

describe('tokens', () => {
  test('concurrent requests for one repository share one token', async () => {
    requireBearerTokens()
    createTestRegistryClient()
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) => resolveTestImage(`org/a:${(n % 3) + 1}`)),
    )
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true)
    expect(tokenService.requests).toHaveLength(1)
    expect(tokenService.requests[0]?.query.get('service')).toBe('r.test')
  })
  test('the token for another repository is fetched before its first request', async () => {
    requireBearerTokens()
    createTestRegistryClient()
    await resolveTestImage('org/a:1')
    registryServer.requests.length = 0
    expect(await resolveTestImage('org/b:1')).toMatchObject({ kind: 'ok' })
    expect(registryServer.requests).toHaveLength(1)
  })
  test('a token with a short lifetime is cached for thirty seconds', async () => {
    requireBearerTokens(undefined, { expires_in: 1 })
    createTestRegistryClient()
    await resolveTestImage('org/a:1')
    clock.advance(29_000)
    await resolveTestImage('org/a:2')
    expect(tokenService.requests).toHaveLength(1)
    clock.advance(2000)
    await resolveTestImage('org/a:3')
    expect(tokenService.requests).toHaveLength(2)
  })
  test('access_token is accepted in place of token', async () => {
    requireBearerTokens(undefined, {
      token: undefined,
      access_token: Buffer.from('repository:org/a:pull').toString('hex'),
    })
    createTestRegistryClient()
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'ok' })
  })
  test('a rejected token is fetched again once', async () => {
    requireBearerTokens()
    createTestRegistryClient()
    await resolveTestImage('org/a:1')
    const script = registryServer.script
    let rejectedCount = 0
    registryServer.script = (request, response, earlier) => {
      if (rejectedCount++ === 0)
        response
          .writeHead(401, {
            'www-authenticate': `Bearer realm="${tokenService.origin}/token",service="r.test"`,
          })
          .end()
      else return script?.(request, response, earlier)
    }
    expect(await resolveTestImage('org/a:2')).toMatchObject({ kind: 'ok' })
    expect(tokenService.requests).toHaveLength(2)
  })
  test('the scope that the registry requests is used if the default scope is not enough', async () => {
    registryServer.script = ({ headers }, response) => {
      if (headers.authorization === 'Bearer special') return
      const scope = 'repository:real/name:pull'
      response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="${tokenService.origin}/token",service="s",scope="${scope}"`,
        })
        .end()
    }
    tokenService.script = ({ query }, response) =>
      void response.end(
        JSON.stringify({ token: query.get('scope')?.includes('real/name') ? 'special' : 'plain' }),
      )
    createTestRegistryClient()
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(tokenService.requests).toHaveLength(2)
  })
  test('Docker Hub: a token without the scope means missing or private, with few retries', async () => {
    requireBearerTokens()
    tokenService.script = (_, response) => void response.end(JSON.stringify({ token: 'empty' }))
    createTestRegistryClient()
    expect(await resolveTestImage('org/none:1')).toMatchObject({ kind: 'missing-or-private' })
    expect(registryServer.requests.length).toBeLessThan(8)
  })
  test('ghcr.io: a denied anonymous token means missing or private', async () => {
    requireBearerTokens()
    tokenService.script = (_, response) =>
      sendRegistryError(response, 403, 'DENIED', 'requested access to the resource is denied')
    createTestRegistryClient()
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'missing-or-private' })
  })
  test('quay.io: a missing tag is missing with a robot account', async () => {
    requireBearerTokens()
    createTestRegistryClient(robotAccountCredential, {
      tokenHosts: { [registryServer.host]: [tokenService.host] },
    })
    expect(await resolveTestImage('org/a:gone')).toMatchObject({ kind: 'missing' })
    expect(tokenService.requests[0]?.query.get('account')).toBe('org+robot')
    expect(tokenService.requests[0]?.headers.authorization).toBe(`Basic ${btoa('org+robot:a:b')}`)
    expect(countBasicAuthRequests(registryServer.requests)).toBe(0)
  })
  test('a failing token service is inconclusive', async () => {
    requireBearerTokens()
    createTestRegistryClient()
    for (const [status, reason] of [
      [500, /500/],
      [429, /is rate limiting/],
      [200, /did not return a token/],
    ] as const) {
      tokenService.script = (_, response) => void response.writeHead(status).end('{"token":"\\u0000"}')
      expect(await resolveTestImage('org/a:1')).toMatchObject({
        kind: 'unknown',
        reason: expect.stringMatching(reason),
      })
    }
  })
  test('a challenge that only /v2/ returns is found there', async () => {
    requireBearerTokens()
    const script = registryServer.script
    registryServer.script = (request, response, earlier) => {
      if (request.path === '/v2/')
        response
          .writeHead(401, {
            'www-authenticate': `Bearer realm="${tokenService.origin}/token",service="r.test"`,
          })
          .end()
      else if (request.headers.authorization === undefined) response.writeHead(401).end()
      else return script?.(request, response, earlier)
    }
    createTestRegistryClient()
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'ok' })
  })
  test('ACR: an identity token is exchanged by POST, or by GET if POST is not supported', async () => {
    requireBearerTokens()
    const posted: string[] = []
    tokenService.script = (request, response) => {
      posted.push(request.method)
      if (request.method === 'POST') response.writeHead(404).end()
      else response.end(JSON.stringify({ token: Buffer.from('repository:org/a:pull').toString('hex') }))
    }
    createTestRegistryClient(
      { kind: 'identity', token: 'refresh' },
      { tokenHosts: { [registryServer.host]: [tokenService.host] } },
    )
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(posted).toEqual(['POST', 'GET'])
  })
  test('a configured bearer token is sent unchanged', async () => {
    requireBearerTokens()
    createTestRegistryClient({ kind: 'bearer', token: Buffer.from('repository:org/a:pull').toString('hex') })
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(tokenService.requests).toHaveLength(0)
  })
})

describe('credentials are not sent to other hosts', () => {
  test('a realm on another host receives no password', async () => {
    requireBearerTokens()
    createTestRegistryClient(robotAccountCredential)
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(countBasicAuthRequests(tokenService.requests)).toBe(0)
    expect(tokenService.requests[0]?.query.get('account')).toBeNull()
  })
  test.each([
    'http://127.0.0.1:1/token',
    'https://169.254.169.254/token',
    'https://localhost/token',
    'file:///etc/passwd',
    'https://user:password@quay.io/token',
    'nonsense',
    '',
    'https://metadata.google.internal/',
    'http://quay.io/token',
  ])('no request is sent to the realm %j', async (realm) => {
    requireBearerTokens(realm)
    createTestRegistryClient(robotAccountCredential)
    expect(await resolveTestImage('org/a:1')).toMatchObject({ kind: 'blocked' })
    expect(tokenService.requests).toHaveLength(0)
  })
  test('no token request is sent to another realm that the registry names later', async () => {
    requireBearerTokens()
    createTestRegistryClient(robotAccountCredential, {
      tokenHosts: { [registryServer.host]: [tokenService.host] },
    })
    await resolveTestImage('org/a:1')
    const other = await startScriptedRegistry()
    requireBearerTokens(`${other.origin}/token`)
    clock.advance(400_000)
    await resolveTestImage('org/b:1')
    expect(other.requests).toHaveLength(0)
    await other.close()
  })
  test('credentials are shared only with the same host, its subdomains, and configured token hosts', () => {
    const policy = new EgressPolicy({ tokenHosts: { 'r.example': ['sso.other.example'] } })
    const may = (host: string, realm: string) => policy.mayShareCredentials(host, new URL(realm))
    expect(may('quay.io', 'https://quay.io/v2/auth')).toBe(true)
    expect(may('registry-1.docker.io', 'https://auth.docker.io/token')).toBe(true)
    expect(may('r.example', 'https://auth.r.example/token')).toBe(true)
    expect(may('r.example', 'https://sso.other.example/token')).toBe(true)
    expect(may('quay.io', 'https://evil-quay.io/')).toBe(false)
    expect(may('quay.io', 'https://quay.io.evil.example/')).toBe(false)
    expect(may('quay.io', 'https://quay.io:8443/')).toBe(false)
    expect(may('a.github.example', 'https://b.github.example/')).toBe(false)
    expect(may('a.github.example', 'https://github.example/')).toBe(false)
    expect(may('quay.io:5000', 'https://quay.io/')).toBe(false)
  })
})
