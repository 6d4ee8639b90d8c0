// Tests the client against scripted registries that behave like real ones.
import { describe, expect, test } from '@jest/globals'
import { systemClock } from '../../../src/adapters/system-clock.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { manifestMediaTypes } from '../../../src/adapters/registry/manifest.ts'
import {
  createStaticCredentialSource,
  createImageManifest,
  sendRegistryError,
  startScriptedRegistry,
  computeSha256Digest,
} from './scripted-registry.ts'
import {
  clock,
  createTestRegistryClient,
  formatTestImageReference,
  registryServer,
  resolveImage,
  startRegistriesBeforeEach,
} from './registry-fixture.ts'

startRegistriesBeforeEach()

/** Opens a client that requests Docker Hub images, whose manifest GETs count as pulls, from the test registry. */
const createDockerHubClient = () =>
  createTestRegistryClient({ rules: [{ prefix: 'docker.io', location: registryServer.host }] })
const listRegistryRequestMethods = () => registryServer.requests.map(({ method }) => method)

test('closing the client ends pending waits, and no further requests are sent', async () => {
  registryServer.script = (_, response) => void response.writeHead(429, { 'retry-after': '30' }).end()
  const client = createTestRegistryClient({ clock: systemClock })
  const answers = Array.from({ length: 40 }, (_, index) =>
    client.resolve(formatTestImageReference(`org/app:${index}`)),
  )
  while (registryServer.requests.length === 0) await new Promise(setImmediate)
  await client.close()
  const requestsBefore = registryServer.requests.length
  for (const answer of await Promise.all(answers)) expect(answer.kind).toBe('unknown')
  expect(await client.resolve(formatTestImageReference('org/app:later'))).toMatchObject({ kind: 'unknown' })
  expect(registryServer.requests).toHaveLength(requestsBefore)
})

describe('existence', () => {
  test('one GET resolves an image, by tag and by digest', async () => {
    const digest = registryServer.add('org/app', 'v1')
    const resolved = { kind: 'ok', digest }
    const client = createTestRegistryClient()
    expect(await client.resolve(formatTestImageReference('org/app:v1'))).toEqual(resolved)
    expect(await client.resolve(formatTestImageReference(`org/app@${digest}`))).toEqual(resolved)
    expect(listRegistryRequestMethods()).toEqual(['GET', 'GET'])
  })
  test('one HEAD resolves an image if a GET counts as a pull', async () => {
    const digest = registryServer.add('org/app', 'v1')
    const client = createDockerHubClient()
    expect(await client.resolve('org/app:v1')).toMatchObject({ kind: 'ok', digest })
    expect(await client.resolve(`docker.io/org/app@${digest}`)).toMatchObject({ kind: 'ok', digest })
    expect(listRegistryRequestMethods()).toEqual(['HEAD', 'HEAD'])
  })
  test('the digest takes precedence over the tag', async () => {
    const digest = registryServer.add('org/app', 'v1')
    expect(await resolveImage(`org/app:gone@${digest}`)).toMatchObject({ kind: 'ok' })
  })
  test('the connection is reused after a HEAD', async () => {
    registryServer.add('org/app', 'v1')
    const client = createDockerHubClient()
    for (let round = 0; round < 20; round += 1) await client.resolve('org/app:v1')
    // Two, because an undici client counts as busy for a moment after its response ends.
    expect(registryServer.connections()).toBeLessThanOrEqual(2)
  })
  test('HEAD and GET accept all four media types in one header', async () => {
    await resolveImage('org/app:none')
    for (const { headers } of registryServer.requests)
      for (const type of Object.values(manifestMediaTypes))
        expect(headers.accept?.split(', ')).toContain(type)
  })
  test('an image is missing only if both GET and HEAD return 404', async () => {
    expect(await resolveImage('org/app:none')).toEqual({
      kind: 'missing',
      reason: `${registryServer.host} doesn't have this image (404 MANIFEST_UNKNOWN)`,
    })
    expect(listRegistryRequestMethods()).toEqual(['GET', 'HEAD'])
  })
  test('an image that HEAD finds and GET does not is inconclusive', async () => {
    registryServer.add('org/app', 'v1')
    registryServer.script = ({ method }, response) => void (method === 'GET' && response.writeHead(404).end())
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'unknown' })
  })
  test('malformed references send no request', async () => {
    expect(await resolveImage('org/App:1')).toMatchObject({ kind: 'malformed' })
    expect(registryServer.requests).toHaveLength(0)
  })
  test('an aborted lookup is inconclusive', async () => {
    const stop = new AbortController()
    registryServer.script = () => {
      stop.abort()
      return true
    }
    expect(
      await createTestRegistryClient().resolve(formatTestImageReference('org/app:v1'), stop.signal),
    ).toMatchObject({ kind: 'unknown' })
  })
})

describe('bytes and types', () => {
  test('a HEAD without a digest (ECR, proxies) is followed by a GET with hashing', async () => {
    const digest = registryServer.add('org/app', 'v1')
    registryServer.script = ({ method }, response) => {
      if (method === 'HEAD')
        response.writeHead(200, { 'content-type': manifestMediaTypes.ociManifest, 'content-length': 5 }).end()
    }
    expect(await createDockerHubClient().resolve('org/app:v1')).toMatchObject({ kind: 'ok', digest })
    expect(listRegistryRequestMethods()).toEqual(['HEAD', 'GET'])
  })
  test('different bytes for a digest are a mismatch after a second request', async () => {
    const wanted = computeSha256Digest('something else')
    const bytes = JSON.stringify(createImageManifest('x'))
    registryServer.script = ({ method }, response) => {
      response.writeHead(200, {
        'content-type': manifestMediaTypes.ociManifest,
        'content-length': bytes.length,
      })
      response.end(method === 'HEAD' ? undefined : bytes)
    }
    expect(await resolveImage(`org/app@${wanted}`)).toMatchObject({ kind: 'digest-mismatch' })
    expect(listRegistryRequestMethods()).toEqual(['GET', 'GET'])
  })
  test('an HTML page from a proxy is inconclusive', async () => {
    registryServer.script = (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>login')
    expect(await resolveImage(`org/app@${computeSha256Digest('x')}`)).toMatchObject({ kind: 'unknown' })
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'unknown' })
  })
  test('an invalid digest header on a tag is ignored', async () => {
    const digest = registryServer.add('org/app', 'v1')
    registryServer.script = ({ method }, response) => {
      if (method === 'HEAD')
        response
          .writeHead(200, {
            'content-type': manifestMediaTypes.ociManifest,
            'docker-content-digest': 'nonsense',
          })
          .end()
    }
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'ok', digest })
  })
  test.each([
    'application/vnd.docker.distribution.manifest.v1+prettyjws',
    'application/vnd.docker.distribution.manifest.v1+json; charset=utf-8',
  ])('schema 1 (%s) is unsupported', async (type) => {
    registryServer.add('org/app', 'v1', { schemaVersion: 1, fsLayers: [] }, type)
    expect(await resolveImage('org/app:v1')).toMatchObject({
      kind: 'unsupported',
      reason: expect.stringContaining('schema 1'),
    })
    expect(await resolveImage('org/app:v1', { platforms: true })).toMatchObject({ kind: 'unsupported' })
  })
  test.each<[string, unknown, string]>([
    [
      'an index that is also an image',
      { schemaVersion: 2, manifests: [], layers: [], config: {} },
      manifestMediaTypes.ociIndex,
    ],
    [
      'a media type that contradicts the Content-Type',
      { schemaVersion: 2, mediaType: manifestMediaTypes.ociIndex, manifests: [] },
      manifestMediaTypes.ociManifest,
    ],
    ['an image without layers', { schemaVersion: 2, config: {} }, manifestMediaTypes.ociManifest],
    [
      'a negative size',
      { schemaVersion: 2, manifests: [{ digest: computeSha256Digest('x'), size: -1 }] },
      manifestMediaTypes.ociIndex,
    ],
    ['invalid JSON', 'no json', manifestMediaTypes.ociManifest],
    [
      'a chart',
      { schemaVersion: 2, mediaType: 'application/vnd.example.thing', layers: [] },
      'application/vnd.example.thing',
    ],
  ])('%s is unsupported by digest', async (_name, document, type) => {
    const digest = registryServer.add('org/app', 'v1', document, type)
    expect(await resolveImage(`org/app@${digest}`, { platforms: true })).toMatchObject({
      kind: 'unsupported',
    })
  })
  test('a manifest larger than 4 MiB is unsupported', async () => {
    registryServer.script = ({ method }, response) => {
      response.writeHead(200, { 'content-type': manifestMediaTypes.ociManifest })
      response.end(method === 'HEAD' ? undefined : Buffer.alloc(5 * 1024 * 1024, 32))
    }
    expect(await resolveImage('org/app:v1')).toMatchObject({
      kind: 'unsupported',
      reason: expect.stringContaining('larger'),
    })
  })
  test('the platforms of an index and of a single image are reported', async () => {
    const entry = (os: string, architecture: string, variant?: string) => ({
      mediaType: manifestMediaTypes.ociManifest,
      digest: computeSha256Digest(architecture),
      size: 3,
      platform: { os, architecture, variant },
    })
    registryServer.add(
      'org/app',
      'multi',
      {
        schemaVersion: 2,
        manifests: [
          entry('linux', 'amd64'),
          entry('linux', 'arm64', 'v8'),
          entry('linux', 'arm', 'v7'),
          entry('unknown', 'unknown'),
        ],
      },
      manifestMediaTypes.ociIndex,
    )
    const config = registryServer.addBlob(JSON.stringify({ os: 'linux', architecture: 's390x' }))
    registryServer.add('org/app', 'single', { schemaVersion: 2, config, layers: [] })
    const client = createTestRegistryClient({ platforms: true })
    expect(await client.resolve(formatTestImageReference('org/app:multi'))).toMatchObject({
      platforms: ['linux/amd64', 'linux/arm64', 'linux/arm/v7'],
    })
    expect(await client.resolve(formatTestImageReference('org/app:single'))).toMatchObject({
      platforms: ['linux/s390x'],
    })
  })
})

describe('registry quirks', () => {
  test('Nexus: an image is found by GET if HEAD returns 404, and HEAD is not used again', async () => {
    registryServer.add('org/app', 'v1')
    registryServer.script = ({ method }, response) =>
      void (method === 'HEAD' && response.writeHead(404).end())
    const client = createDockerHubClient()
    for (let round = 0; round < 3; round += 1)
      expect(await client.resolve('org/app:v1')).toMatchObject({ kind: 'ok' })
    expect(listRegistryRequestMethods()).toEqual(['HEAD', 'GET', 'GET', 'GET'])
  })
  test.each([400, 401, 403, 405, 500, 502])(
    'a GET follows if a proxy responds to HEAD with %i',
    async (status) => {
      registryServer.add('org/app', 'v1')
      registryServer.script = ({ method }, response) =>
        void (method === 'HEAD' && response.writeHead(status).end())
      expect(await createDockerHubClient().resolve('org/app:v1')).toMatchObject({ kind: 'ok' })
    },
  )
  test('Harbor and Red Hat: code UNKNOWN with status 404 means missing', async () => {
    registryServer.script = (_, response) => sendRegistryError(response, 404, 'UNKNOWN', 'Not Found')
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'missing' })
  })
  test('ECR: Basic authentication without a token exchange', async () => {
    registryServer.add('org/app', 'v1')
    registryServer.script = ({ headers }, response) => {
      if (headers.authorization !== `Basic ${btoa('AWS:secret')}`)
        response
          .writeHead(401, {
            'www-authenticate': 'Basic realm="https://ecr.example/",service="ecr.amazonaws.com"',
          })
          .end()
    }
    const credentials = [
      createStaticCredentialSource({
        [registryServer.host]: { kind: 'basic', username: 'AWS', password: 'secret' },
      }),
    ]
    expect(await resolveImage('org/app:v1', { credentials })).toMatchObject({ kind: 'ok' })
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'missing-or-private' })
    const wrong = [
      createStaticCredentialSource({
        [registryServer.host]: { kind: 'basic', username: 'AWS', password: 'old' },
      }),
    ]
    expect(await resolveImage('org/app:v1', { credentials: wrong })).toMatchObject({
      kind: 'unknown',
      reason: `${registryServer.host} rejected the configured credentials`,
    })
  })
  test('Red Hat: the help text of a rejection is reported on one line and truncated', async () => {
    registryServer.script = (_, response) =>
      sendRegistryError(
        response,
        401,
        'UNAUTHORIZED',
        `Please login\n[x](https://evil)\u202e${'y'.repeat(500)}`,
      )
    const answer = await resolveImage('org/app:v1')
    expect(answer).toMatchObject({
      kind: 'missing-or-private',
      reason: expect.stringContaining('Please login'),
    })
    expect((answer as { reason: string }).reason).not.toMatch(/[\n\u202e]/)
    expect((answer as { reason: string }).reason.length).toBeLessThan(320)
  })
  test('a plain details field is reported, and HTML is not', async () => {
    registryServer.script = (_, response) =>
      void response.writeHead(401).end('{"details":"unauthorized here"}')
    expect(await resolveImage('org/app:v1')).toMatchObject({
      reason: expect.stringContaining('unauthorized here'),
    })
    registryServer.script = (_, response) => void response.writeHead(403).end('<html><b>no</b>')
    expect(await resolveImage('org/app:v1')).toMatchObject({ reason: expect.not.stringContaining('<') })
  })
  test('403 DENIED without credentials means missing or private', async () => {
    registryServer.script = (_, response) => sendRegistryError(response, 403, 'DENIED', 'denied')
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'missing-or-private' })
  })
  test('blobs are fetched through a signed redirect without our authorization, and verified', async () => {
    const storage = await startScriptedRegistry()
    const blob = registryServer.addBlob('layer')
    storage.script = (_, response) => void response.writeHead(200).end('layer')
    registryServer.script = ({ path, headers }, response) => {
      if (headers.authorization === undefined)
        response.writeHead(401, { 'www-authenticate': 'Basic realm=x' }).end()
      else if (path.includes('/blobs/'))
        response.writeHead(307, { location: `${storage.origin}/signed?X-Signature=abc` }).end()
    }
    const client = createTestRegistryClient({
      egress: allowLoopbackRegistries(registryServer.host, storage.host),
      credentials: [
        createStaticCredentialSource({
          [registryServer.host]: { kind: 'basic', username: 'u', password: 'p' },
        }),
      ],
    })
    const reference = { host: registryServer.host, repository: 'org/app' }
    expect(Buffer.from(await client.fetchBlob(reference, { mediaType: '', ...blob })).toString()).toBe(
      'layer',
    )
    expect(storage.requests[0]?.headers.authorization).toBeUndefined()
    storage.script = (_, response) => void response.writeHead(200).end('lairs')
    await expect(client.fetchBlob(reference, { mediaType: '', ...blob })).rejects.toMatchObject({
      code: 'digest-mismatch',
    })
    storage.script = (_, response) => void response.writeHead(200).end('a layer that goes on')
    await expect(client.fetchBlob(reference, { mediaType: '', ...blob })).rejects.toMatchObject({
      code: 'digest-mismatch',
    })
    await storage.close()
  })
})

describe('limits and outages', () => {
  test.each<[string, string | undefined, number]>([
    ['seconds', '7', 7000],
    ['a date', 'Sun, 01 Nov 2026 00:00:20 GMT', 20_000],
    ['nothing', undefined, 500],
  ])('429 with %s as Retry-After is retried after a wait', async (_name, retryAfter, wait) => {
    registryServer.add('org/app', 'v1')
    registryServer.script = (_, response, earlier) => {
      if (earlier === 0)
        response.writeHead(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end()
    }
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'ok' })
    expect(clock.slept[0]).toBe(wait)
  })
  test('a rate limit longer than a minute is reported without a wait', async () => {
    registryServer.script = (_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end()
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'unknown', retryAfter: 3600 })
    expect(clock.slept).toEqual([])
  })
  test('the code TOOMANYREQUESTS is inconclusive even with status 403', async () => {
    registryServer.script = (_, response) => sendRegistryError(response, 403, 'TOOMANYREQUESTS', 'slow down')
    expect(await resolveImage('org/app:v1', { limits: { attempts: 1 } })).toMatchObject({ kind: 'unknown' })
  })
  test.each([500, 502, 503, 504, 408, 499, 522])(
    '%i is an outage, retried with increasing delays',
    async (status) => {
      registryServer.script = (_, response) => void response.writeHead(status).end()
      expect(await resolveImage('org/app:v1')).toMatchObject({
        kind: 'unknown',
        reason: `${registryServer.host} returned ${status}`,
      })
      expect(clock.slept).toEqual([500, 1000, 2000])
      expect(listRegistryRequestMethods()).toEqual(['GET', 'GET', 'GET', 'GET'])
    },
  )
  test('a dead host is inconclusive, and is not retried immediately for the next reference', async () => {
    const dead = await startScriptedRegistry()
    await dead.close()
    const client = createTestRegistryClient({ egress: allowLoopbackRegistries(dead.host) })
    expect(await client.resolve(`${dead.host}/a/b:1`)).toEqual({
      kind: 'unknown',
      reason: `${dead.host} did not accept the connection`,
      retryAfter: 60,
    })
    const slept = clock.slept.length
    expect(await client.resolve(`${dead.host}/a/c:1`)).toMatchObject({ kind: 'unknown' })
    expect(clock.slept).toHaveLength(slept)
    clock.advance(20_000)
    await client.resolve(`${dead.host}/a/c:1`)
    expect(clock.slept.length).toBeGreaterThan(slept)
  })
  test('a broken connection is retried', async () => {
    registryServer.add('org/app', 'v1')
    registryServer.script = (_, response, earlier) => {
      if (earlier > 0) return false
      response.socket?.destroy()
      return true
    }
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'ok' })
  })
  test('a host name that cannot be resolved is inconclusive', async () => {
    const client = createTestRegistryClient({
      resolve: () => Promise.reject(new Error('ENOTFOUND')),
      limits: { attempts: 1 },
    })
    expect(await client.resolve('no.such.example/a/b:1')).toEqual({
      kind: 'unknown',
      reason: 'cannot resolve no.such.example',
      retryAfter: 60,
    })
  })
  test.each([
    ['does not exist is not retried', 'ENOTFOUND', 1],
    ['cannot be resolved at the moment is retried', 'EAI_AGAIN', 2],
  ])('a host name that %s', async (_, code, attempts) => {
    let lookups = 0
    const client = createTestRegistryClient({
      resolve: () => {
        lookups += 1
        return Promise.reject(Object.assign(new Error(code), { code }))
      },
      limits: { attempts: 2, backOffMs: 1 },
    })
    expect(await client.resolve('no.such.example/a/b:1')).toMatchObject({ kind: 'unknown' })
    expect(lookups).toBe(attempts)
  })
  test('an untrusted certificate is inconclusive, not missing', async () => {
    const secure = await startScriptedRegistry({ tls: true })
    const client = createTestRegistryClient({ egress: { internal: { [secure.host]: ['127.0.0.1/32'] } } })
    expect(await client.resolve(`${secure.host}/a/b:1`)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('TLS'),
    })
    await secure.close()
  })
  test('a registry that never responds times out', async () => {
    registryServer.script = () => true
    expect(await resolveImage('org/app:v1', { limits: { headersTimeout: 50, attempts: 1 } })).toMatchObject({
      kind: 'unknown',
      reason: expect.stringMatching(/in time/),
    })
  })
})

describe('mirrors', () => {
  test('a mirror is used first, with the origin registry as the fallback', async () => {
    const mirror = await startScriptedRegistry()
    const digest = registryServer.add('org/app', 'v1')
    const client = createTestRegistryClient({
      egress: allowLoopbackRegistries(registryServer.host, mirror.host),
      rules: [{ prefix: `${registryServer.host}/org`, mirrors: [{ location: `${mirror.host}/cache` }] }],
      limits: { attempts: 1 },
    })
    expect(await client.resolve(formatTestImageReference('org/app:v1'))).toMatchObject({ kind: 'ok', digest })
    expect(mirror.requests[0]?.path).toBe('/v2/cache/app/manifests/v1')
    mirror.add('cache/app', 'v1', createImageManifest('mirrored'))
    const before = registryServer.requests.length
    expect(await client.resolve(formatTestImageReference('org/app:v1'))).toMatchObject({ kind: 'ok' })
    expect(registryServer.requests).toHaveLength(before)
    expect(await client.resolve(formatTestImageReference('org/none:v1'))).toMatchObject({
      kind: 'missing',
      reason: expect.stringContaining('; mirror: '),
    })
    // A prefix must end at a slash.
    mirror.requests.length = 0
    await client.resolve(formatTestImageReference('organization/app:v1'))
    expect(mirror.requests).toHaveLength(0)
    await mirror.close()
  })
  test('a mirror receives no credentials of the origin, and a digest-only mirror no tags', async () => {
    const mirror = await startScriptedRegistry()
    const digest = registryServer.add('org/app', 'v1')
    mirror.script = (_, response) =>
      void response.writeHead(401, { 'www-authenticate': 'Basic realm=x' }).end()
    const client = createTestRegistryClient({
      egress: allowLoopbackRegistries(registryServer.host, mirror.host),
      rules: [{ prefix: registryServer.host, mirrors: [{ location: mirror.host, for: 'digests' }] }],
      credentials: [
        createStaticCredentialSource({
          [registryServer.host]: { kind: 'basic', username: 'u', password: 'p' },
        }),
      ],
    })
    await client.resolve(formatTestImageReference('org/app:v1'))
    expect(mirror.requests).toHaveLength(0)
    await client.resolve(formatTestImageReference(`org/app@${digest}`))
    expect(mirror.requests).not.toHaveLength(0)
    for (const { headers } of mirror.requests) expect(headers.authorization).toBeUndefined()
    await mirror.close()
  })
})
