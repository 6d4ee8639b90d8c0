// Bearer tokens: who is asked for them, how often, and who never gets to see a password.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { fixedCredentials, type Credential } from '../../../src/registry/auth/credentials.ts'
import {
  loopbackRegistries,
  egressPolicy,
  type EgressOptions,
} from '../../../src/registry/transport/egress-policy.ts'
import { openRegistry } from '../../../src/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/registry/registry-client.ts'
import { handClock, type HandClock } from '../manual-clock.ts'
import {
  refuse,
  scriptedRegistry,
  type ScriptedRegistry,
  type ScriptedRequest,
} from '../scripted-registry.ts'

let registry: ScriptedRegistry
let service: ScriptedRegistry
let clock: HandClock
let client: RegistryClient
const basic: Credential = { kind: 'basic', username: 'org+robot', password: 'a:b' }

/** The registry wants a token of `service` for the very repository; the service gives one for every scope it is asked. */
function speakBearer(realm = `${service.origin}/token`, extra: Record<string, unknown> = {}): void {
  registry.script = ({ path, headers }, response) => {
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
  service.script = ({ query }, response) => {
    const token = Buffer.from(query.get('scope') ?? '').toString('hex')
    response.writeHead(200).end(JSON.stringify({ token, expires_in: 300, ...extra }))
  }
}

function open(credential?: Credential, egress: EgressOptions = {}): RegistryClient {
  client = openRegistry({
    clock,
    egress: { ...loopbackRegistries(registry.host, service.host), ...egress },
    credentials: credential ? [fixedCredentials({ [registry.host]: credential })] : [],
    limits: { attempts: 1 },
  })
  return client
}
const ask = (name: string) => client.resolve(`${registry.host}/${name}`)
const passwordsIn = (requests: ScriptedRequest[]) =>
  requests.filter(({ headers }) => headers.authorization?.startsWith('Basic ')).length

beforeEach(async () => {
  clock = handClock()
  registry = await scriptedRegistry()
  service = await scriptedRegistry()
  for (const name of ['org/a', 'org/b']) for (const tag of ['1', '2', '3']) registry.add(name, tag)
})
afterEach(async () => {
  await Promise.all([client.close(), registry.close(), service.close()])
})

describe('tokens', () => {
  test('one repository costs one token, however many ask at once', async () => {
    speakBearer()
    open()
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(`org/a:${(n % 3) + 1}`)))
    expect(answers.every(({ kind }) => kind === 'ok')).toBe(true)
    expect(service.requests).toHaveLength(1)
    expect(service.requests[0]?.query.get('service')).toBe('r.test')
  })
  test('the next repository has its token before its first request', async () => {
    speakBearer()
    open()
    await ask('org/a:1')
    registry.requests.length = 0
    expect(await ask('org/b:1')).toMatchObject({ kind: 'ok' })
    expect(registry.requests).toHaveLength(1)
  })
  test('a token is kept until shortly before its end, at least for thirty seconds', async () => {
    speakBearer(undefined, { expires_in: 1 })
    open()
    await ask('org/a:1')
    clock.advance(29_000)
    await ask('org/a:2')
    expect(service.requests).toHaveLength(1)
    clock.advance(2000)
    await ask('org/a:3')
    expect(service.requests).toHaveLength(2)
  })
  test('access_token is as good as token', async () => {
    speakBearer(undefined, {
      token: undefined,
      access_token: Buffer.from('repository:org/a:pull').toString('hex'),
    })
    open()
    expect(await ask('org/a:1')).toMatchObject({ kind: 'ok' })
  })
  test('a token that is refused is fetched anew, once', async () => {
    speakBearer()
    open()
    await ask('org/a:1')
    const script = registry.script
    let refused = 0
    registry.script = (request, response, earlier) => {
      if (refused++ === 0)
        response
          .writeHead(401, { 'www-authenticate': `Bearer realm="${service.origin}/token",service="r.test"` })
          .end()
      else return script?.(request, response, earlier)
    }
    expect(await ask('org/a:2')).toMatchObject({ kind: 'ok' })
    expect(service.requests).toHaveLength(2)
  })
  test('the scope that the registry asks for is tried when our own does not do', async () => {
    registry.script = ({ headers }, response) => {
      if (headers.authorization === 'Bearer special') return
      const scope = 'repository:real/name:pull'
      response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="${service.origin}/token",service="s",scope="${scope}"`,
        })
        .end()
    }
    service.script = ({ query }, response) =>
      void response.end(
        JSON.stringify({ token: query.get('scope')?.includes('real/name') ? 'special' : 'plain' }),
      )
    open()
    expect(await ask('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(service.requests).toHaveLength(2)
  })
  test('Docker Hub: a token without the scope means missing or private, and ends', async () => {
    speakBearer()
    service.script = (_, response) => void response.end(JSON.stringify({ token: 'empty' }))
    open()
    expect(await ask('org/none:1')).toMatchObject({ kind: 'missing-or-private' })
    expect(registry.requests.length).toBeLessThan(8)
  })
  test('ghcr.io: an anonymous token that is refused means missing or private', async () => {
    speakBearer()
    service.script = (_, response) =>
      refuse(response, 403, 'DENIED', 'requested access to the resource is denied')
    open()
    expect(await ask('org/a:1')).toMatchObject({ kind: 'missing-or-private' })
  })
  test('quay.io: with our robot account a missing tag is missing', async () => {
    speakBearer()
    open(basic, { tokenHosts: { [registry.host]: [service.host] } })
    expect(await ask('org/a:gone')).toMatchObject({ kind: 'missing' })
    expect(service.requests[0]?.query.get('account')).toBe('org+robot')
    expect(service.requests[0]?.headers.authorization).toBe(`Basic ${btoa('org+robot:a:b')}`)
    expect(passwordsIn(registry.requests)).toBe(0)
  })
  test('a token service in trouble is unknown', async () => {
    speakBearer()
    open()
    for (const [status, reason] of [
      [500, /500/],
      [429, /limits/],
      [200, /did not answer with a token/],
    ] as const) {
      service.script = (_, response) => void response.writeHead(status).end('{"token":"\\u0000"}')
      expect(await ask('org/a:1')).toMatchObject({ kind: 'unknown', reason: expect.stringMatching(reason) })
    }
  })
  test('a challenge that is only at the entrance is found there', async () => {
    speakBearer()
    const script = registry.script
    registry.script = (request, response, earlier) => {
      if (request.path === '/v2/')
        response
          .writeHead(401, { 'www-authenticate': `Bearer realm="${service.origin}/token",service="r.test"` })
          .end()
      else if (request.headers.authorization === undefined) response.writeHead(401).end()
      else return script?.(request, response, earlier)
    }
    open()
    expect(await ask('org/a:1')).toMatchObject({ kind: 'ok' })
  })
  test('ACR: an identity token is exchanged by POST, and by GET where POST is not known', async () => {
    speakBearer()
    const posted: string[] = []
    service.script = (request, response) => {
      posted.push(request.method)
      if (request.method === 'POST') response.writeHead(404).end()
      else response.end(JSON.stringify({ token: Buffer.from('repository:org/a:pull').toString('hex') }))
    }
    open({ kind: 'identity', token: 'refresh' }, { tokenHosts: { [registry.host]: [service.host] } })
    expect(await ask('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(posted).toEqual(['POST', 'GET'])
  })
  test('a ready bearer token is sent as it is', async () => {
    speakBearer()
    open({ kind: 'bearer', token: Buffer.from('repository:org/a:pull').toString('hex') })
    expect(await ask('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(service.requests).toHaveLength(0)
  })
})

describe('credentials go nowhere else', () => {
  test('a realm on another host gets no password', async () => {
    speakBearer()
    open(basic)
    expect(await ask('org/a:1')).toMatchObject({ kind: 'ok' })
    expect(passwordsIn(service.requests)).toBe(0)
    expect(service.requests[0]?.query.get('account')).toBeNull()
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
  ])('the realm %j is not asked', async (realm) => {
    speakBearer(realm)
    open(basic)
    expect(await ask('org/a:1')).toMatchObject({ kind: 'blocked' })
    expect(service.requests).toHaveLength(0)
  })
  test('a token is not carried over to another realm that the registry names later', async () => {
    speakBearer()
    open(basic, { tokenHosts: { [registry.host]: [service.host] } })
    await ask('org/a:1')
    const other = await scriptedRegistry()
    speakBearer(`${other.origin}/token`)
    clock.advance(400_000)
    await ask('org/b:1')
    expect(other.requests).toHaveLength(0)
    await other.close()
  })
  test('sharing is for the host itself, hosts below it, and hosts that are listed', () => {
    const policy = egressPolicy({ tokenHosts: { 'r.example': ['sso.other.example'] } })
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
  test('credentials for one host are not those of another whose name contains it', async () => {
    const source = fixedCredentials({ 'quay.io': basic })
    for (const host of ['xquay.io', 'quay.io.evil.example', 'quay.io:5000', 'sub.quay.io'])
      expect(await source.find(host, 'a/b')).toBeUndefined()
  })
})
