// Registries that lie, fail, or stall must lead to a definite or inconclusive answer, never to an exception or to a
// nonexistent image.
import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { manifestMediaTypes } from '../../../src/adapters/registry/manifest.ts'
import { pullBundle } from '../../../src/adapters/registry/pull-bundle.ts'
import { createImageManifest, computeSha256Digest } from './scripted-registry.ts'
import {
  createTestRegistryClient,
  formatTestImageReference,
  registryServer,
  resolveImage,
  startRegistriesBeforeEach,
} from './registry-fixture.ts'

startRegistriesBeforeEach()

const manifestMediaType = manifestMediaTypes.ociManifest
const layer = { mediaType: '', digest: computeSha256Digest('layer'), size: 5 }

describe('an invalid manifest', () => {
  test.each(['[]', '<html></html>', '', 'null', '{}', '"x"', '{"schemaVersion":2}'])(
    '%j is unsupported, both by digest and by a tag with a digest header',
    async (body) => {
      const digest = registryServer.add('org/app', 'v1', body)
      for (const platforms of [false, true])
        for (const name of ['org/app:v1', `org/app@${digest}`])
          expect(await resolveImage(name, { platforms })).toMatchObject({ kind: 'unsupported' })
    },
  )
  test('is inconclusive by tag without a digest header', async () => {
    registryServer.script = (_, response) =>
      void response.writeHead(200, { 'content-type': manifestMediaType }).end('[]')
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'unknown' })
  })
  test('is unsupported with too many values, which would take long to parse', async () => {
    registryServer.add('org/app', 'v1', `{"schemaVersion":2,"layers":[${'{},'.repeat(30_000)}{}]}`)
    const reason = 'the document has more than 50000 values'
    expect(await resolveImage('org/app:v1')).toEqual({ kind: 'unsupported', reason })
  })
  test.each<[string, unknown]>([
    ['a duplicate key', `{"schemaVersion":2,"layers":[],"layers":[],"config":${JSON.stringify(layer)}}`],
    ['a key that differs only in case', { schemaVersion: 2, config: layer, layers: [], Layers: [layer] }],
    ['a key with a long s', { schemaVersion: 2, config: layer, layers: [], 'layer\u017f': [layer] }],
    ['a type key in uppercase', { schemaVersion: 2, config: layer, layers: [], artifactTYPE: 'x' }],
    [
      'a digest key that differs only in case',
      { schemaVersion: 2, layers: [], config: { ...layer, Digest: computeSha256Digest('x') } },
    ],
    ['a byte order mark', `\ufeff${JSON.stringify({ schemaVersion: 2, config: layer, layers: [] })}`],
    ['two documents', `${JSON.stringify({ schemaVersion: 2, config: layer, layers: [] })}{}`],
    [
      'an unpaired surrogate',
      `{"schemaVersion":2,"layers":[],"config":${JSON.stringify(layer)},"x":"\\ud800"}`,
    ],
    ['a size with a fraction', { schemaVersion: 2, layers: [], config: { ...layer, size: '@5.0' } }],
    ['a size with an exponent', { schemaVersion: 2, layers: [], config: { ...layer, size: '@5e0' } }],
    ['a number that is too large', { schemaVersion: 2, layers: [], config: layer, x: `@${'9'.repeat(400)}` }],
    [
      'the key __proto__',
      { schemaVersion: 2, layers: [], config: layer, annotations: { ['__proto__']: 'a' } },
    ],
    ['a null layer', { schemaVersion: 2, layers: [null], config: layer }],
    ['schema 1 fields in addition', { schemaVersion: 2, layers: [], config: layer, fsLayers: [] }],
    ['an unknown schema version', { schemaVersion: 3, layers: [], config: layer }],
    [
      'an md5 digest',
      { schemaVersion: 2, layers: [], config: { ...layer, digest: `md5:${'0'.repeat(32)}` } },
    ],
    [
      'an unknown digest algorithm',
      { schemaVersion: 2, layers: [], config: { ...layer, digest: `abc:${'0'.repeat(64)}` } },
    ],
    [
      'uppercase letters in a digest',
      { schemaVersion: 2, layers: [], config: { ...layer, digest: `sha256:${'A'.repeat(64)}` } },
    ],
  ])('%s is unsupported', async (_name, document) => {
    const text =
      typeof document === 'string' ? document : JSON.stringify(document).replace(/"@([^"]+)"/, '$1')
    const digest = registryServer.add('org/app', 'v1', text)
    expect(await resolveImage(`org/app@${digest}`)).toMatchObject({ kind: 'unsupported' })
  })
  test('annotation and extension keys can differ only in case', async () => {
    const annotations = { name: 'a', Name: 'b', size: 'c' }
    const digest = registryServer.add('org/app', 'v1', {
      ...(createImageManifest('x') as object),
      annotations,
      x: { a: 1, A: 2 },
    })
    expect(await resolveImage(`org/app@${digest}`)).toMatchObject({ kind: 'ok' })
  })
})

describe('digests', () => {
  test('a reference with an unsupported digest algorithm sends no request', async () => {
    expect(await resolveImage(`org/app@sha384:${'0'.repeat(96)}`)).toMatchObject({ kind: 'unsupported' })
    expect(registryServer.requests).toHaveLength(0)
  })
  test('sha512 is accepted', async () => {
    const bytes = JSON.stringify(createImageManifest('x'))
    const digest = `sha512:${createHash('sha512').update(bytes).digest('hex')}`
    registryServer.script = (_, response) =>
      void response
        .writeHead(200, { 'content-type': manifestMediaType, 'content-length': bytes.length })
        .end(bytes)
    expect(await resolveImage(`org/app@${digest}`)).toMatchObject({ kind: 'ok', digest })
  })
  test('a digest header that does not match the bytes is inconclusive', async () => {
    registryServer.script = (_, response) =>
      void response
        .writeHead(200, {
          'content-type': manifestMediaType,
          'docker-content-digest': computeSha256Digest('other'),
        })
        .end(JSON.stringify(createImageManifest('x')))
    expect(await resolveImage('org/app:v1')).toMatchObject({ kind: 'unknown' })
  })
})

describe('blobs', () => {
  const fetchLayer = () =>
    createTestRegistryClient().fetchBlob({ host: registryServer.host, repository: 'org/app' }, layer)
  const answers = (body: string, headers: Record<string, string> = {}, status = 200) => {
    registryServer.script = ({ path }, response) =>
      void (path.includes('/blobs/') && response.writeHead(status, headers).end(body))
  }
  test.each([['layer and more'], ['lay'], ['lairs'], ['']])(
    '%j in place of the layer is a digest mismatch after a retry',
    async (body) => {
      answers(body)
      await expect(fetchLayer()).rejects.toMatchObject({ code: 'digest-mismatch' })
      expect(registryServer.requests).toHaveLength(2)
    },
  )
  test('one corrupted transfer is retried', async () => {
    registryServer.addBlob('layer')
    registryServer.script = (_request, response, earlier) =>
      void (earlier === 0 && response.writeHead(200).end('lai'))
    expect(Buffer.from(await fetchLayer()).toString()).toBe('layer')
  })
  test.each<[string, string, Record<string, string>, number]>([
    ['an HTML page', '<html>', { 'content-type': 'text/html' }, 200],
    ['an HTML page with a charset', '<html></html>', { 'content-type': 'text/html; charset=utf-8' }, 200],
    ['partial content', 'lay', {}, 206],
    ['encoded content', 'lay', { 'content-encoding': 'gzip' }, 200],
  ])('%s is a bad reply, not a digest mismatch', async (_name, body, headers, status) => {
    answers(body, headers, status)
    await expect(fetchLayer()).rejects.toMatchObject({ code: 'bad-reply' })
  })
  test('a connection that closes early is a network error, not a digest mismatch', async () => {
    registryServer.script = (_, response) => {
      response.socket?.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nlay')
      return true
    }
    await expect(fetchLayer()).rejects.toMatchObject({ code: 'network' })
  })
  test('a config that readers interpret differently is unsupported', async () => {
    const config = registryServer.addBlob(
      '{"config":{},"Config":{"Labels":{"a":"b"}},"rootfs":{"diff_ids":[]}}',
    )
    registryServer.add('org/app', 'v1', { schemaVersion: 2, config, layers: [] })
    await expect(
      pullBundle(createTestRegistryClient(), formatTestImageReference('org/app:v1')),
    ).rejects.toMatchObject({ code: 'unsupported' })
    expect(await resolveImage('org/app:v1', { platforms: true })).toMatchObject({ kind: 'unsupported' })
  })
})

test.each([
  ['0', 5],
  ['999999999', 6 * 3600],
  ['never', 300],
])('Retry-After: %s is limited to valid bounds', async (value, retryAfter) => {
  registryServer.script = (_, response) => void response.writeHead(429, { 'retry-after': value }).end()
  expect(await resolveImage('org/app:v1', { limits: { attempts: 1 } })).toMatchObject({
    kind: 'unknown',
    retryAfter,
  })
})
