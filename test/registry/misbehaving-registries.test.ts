// Registries that lie, stumble or drip: each ends in a definite or an unknown answer, as it should, never in an exception
// and never in an image that is not there.
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { loopbackRegistries } from '../../src/registry/transport/egress-policy.ts'
import { mediaTypes } from '../../src/registry/manifest.ts'
import { openRegistry, type RegistryOptions } from '../../src/registry/open-registry.ts'
import type { RegistryClient } from '../../src/registry/registry-client.ts'
import { pullBundle } from '../../src/registry/pull-bundle.ts'
import { handClock } from './manual-clock.ts'
import { imageManifest, scriptedRegistry, sha256, type ScriptedRegistry } from './scripted-registry.ts'

let registry: ScriptedRegistry
const clients: RegistryClient[] = []
beforeEach(async () => {
  registry = await scriptedRegistry()
})
afterEach(async () => {
  await Promise.all([...clients.splice(0).map((client) => client.close()), registry.close()])
})
function open(options: Partial<RegistryOptions> = {}): RegistryClient {
  const client = openRegistry({
    clock: handClock(),
    egress: loopbackRegistries(registry.host),
    random: () => 0,
    ...options,
  })
  clients.push(client)
  return client
}
const at = (rest: string) => `${registry.host}/${rest}`
const type = mediaTypes.ociManifest
const layer = { mediaType: '', digest: sha256('layer'), size: 5 }

describe('a manifest that is none', () => {
  test.each(['[]', '<html></html>', '', 'null', '{}', '"x"', '{"schemaVersion":2}'])(
    '%j does not exist as an image, by digest nor where its digest is told',
    async (body) => {
      const digest = registry.add('org/app', 'v1', body)
      for (const platforms of [false, true])
        for (const name of ['org/app:v1', `org/app@${digest}`])
          expect(await open({ platforms }).resolve(at(name))).toMatchObject({ kind: 'unsupported' })
    },
  )
  test('is unknown by tag where nothing vouches for the bytes', async () => {
    registry.script = (_, response) => void response.writeHead(200, { 'content-type': type }).end('[]')
    expect(await open().resolve(at('org/app:v1'))).toMatchObject({ kind: 'unknown' })
  })
  test.each<[string, unknown]>([
    ['a key twice', `{"schemaVersion":2,"layers":[],"layers":[],"config":${JSON.stringify(layer)}}`],
    ['a key in another case', { schemaVersion: 2, config: layer, layers: [], Layers: [layer] }],
    ['a long s', { schemaVersion: 2, config: layer, layers: [], 'layer\u017f': [layer] }],
    ['a type in capitals', { schemaVersion: 2, config: layer, layers: [], artifactTYPE: 'x' }],
    [
      'a digest in another case of its key',
      { schemaVersion: 2, layers: [], config: { ...layer, Digest: sha256('x') } },
    ],
    ['a byte order mark', `\ufeff${JSON.stringify({ schemaVersion: 2, config: layer, layers: [] })}`],
    ['two documents', `${JSON.stringify({ schemaVersion: 2, config: layer, layers: [] })}{}`],
    ['half a character', `{"schemaVersion":2,"layers":[],"config":${JSON.stringify(layer)},"x":"\\ud800"}`],
    ['a size with a fraction', { schemaVersion: 2, layers: [], config: { ...layer, size: '@' } }],
    ['an empty place among the layers', { schemaVersion: 2, layers: [null], config: layer }],
    ['schema 1 beside it', { schemaVersion: 2, layers: [], config: layer, fsLayers: [] }],
    ['another version', { schemaVersion: 3, layers: [], config: layer }],
    ['md5', { schemaVersion: 2, layers: [], config: { ...layer, digest: `md5:${'0'.repeat(32)}` } }],
    [
      'an algorithm nobody knows',
      { schemaVersion: 2, layers: [], config: { ...layer, digest: `abc:${'0'.repeat(64)}` } },
    ],
    [
      'capital letters',
      { schemaVersion: 2, layers: [], config: { ...layer, digest: `sha256:${'A'.repeat(64)}` } },
    ],
  ])('%s is refused for good', async (_name, document) => {
    const text = typeof document === 'string' ? document : JSON.stringify(document).replace('"@"', '5.0')
    const digest = registry.add('org/app', 'v1', text)
    expect(await open().resolve(at(`org/app@${digest}`))).toMatchObject({ kind: 'unsupported' })
  })
  test('keys that authors choose may differ in case alone', async () => {
    const annotations = { name: 'a', Name: 'b', size: 'c' }
    const digest = registry.add('org/app', 'v1', {
      ...(imageManifest('x') as object),
      annotations,
      x: { a: 1, A: 2 },
    })
    expect(await open().resolve(at(`org/app@${digest}`))).toMatchObject({ kind: 'ok' })
  })
})

describe('digests', () => {
  test('a reference by a weak or unusual digest is not asked for', async () => {
    expect(await open().resolve(at(`org/app@sha384:${'0'.repeat(96)}`))).toMatchObject({
      kind: 'unsupported',
    })
    expect(registry.requests).toHaveLength(0)
  })
  test('sha512 counts', async () => {
    const bytes = JSON.stringify(imageManifest('x'))
    const digest = `sha512:${createHash('sha512').update(bytes).digest('hex')}`
    registry.script = (_, response) =>
      void response.writeHead(200, { 'content-type': type, 'content-length': bytes.length }).end(bytes)
    expect(await open().resolve(at(`org/app@${digest}`))).toMatchObject({ kind: 'ok', digest })
  })
  test('a digest in the header that is not that of the bytes is no answer', async () => {
    registry.script = (_, response) =>
      void response
        .writeHead(200, { 'content-type': type, 'docker-content-digest': sha256('other') })
        .end(JSON.stringify(imageManifest('x')))
    expect(await open().resolve(at('org/app:v1'))).toMatchObject({ kind: 'unknown' })
  })
})

describe('blobs', () => {
  const fetchLayer = () => open().fetchBlob({ host: registry.host, repository: 'org/app' }, layer)
  const answers = (body: string, headers: Record<string, string> = {}, status = 200) => {
    registry.script = ({ path }, response) =>
      void (path.includes('/blobs/') && response.writeHead(status, headers).end(body))
  }
  test.each([['layer and more'], ['lay'], ['lairs'], ['']])(
    '%j instead of it is a definite answer',
    async (body) => {
      answers(body)
      await expect(fetchLayer()).rejects.toMatchObject({ code: 'digest-mismatch' })
      expect(registry.requests).toHaveLength(2)
    },
  )
  test('one bad transfer is not', async () => {
    registry.addBlob('layer')
    registry.script = (_request, response, earlier) =>
      void (earlier === 0 && response.writeHead(200).end('lai'))
    expect(Buffer.from(await fetchLayer()).toString()).toBe('layer')
  })
  test.each<[string, string, Record<string, string>, number]>([
    ['a page', '<html>', { 'content-type': 'text/html' }, 200],
    ['a long page', '<html></html>', { 'content-type': 'text/html; charset=utf-8' }, 200],
    ['a part', 'lay', {}, 206],
    ['an encoding', 'lay', { 'content-encoding': 'gzip' }, 200],
  ])('%s says nothing of it', async (_name, body, headers, status) => {
    answers(body, headers, status)
    await expect(fetchLayer()).rejects.toMatchObject({ code: 'bad-reply' })
  })
  test('a connection that is closed early says nothing, whatever was promised', async () => {
    registry.script = (_, response) => {
      response.socket?.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nlay')
      return true
    }
    await expect(fetchLayer()).rejects.toMatchObject({ code: 'network' })
  })
  test('a config that readers take for different things is refused for good', async () => {
    const config = registry.addBlob('{"config":{},"Config":{"Labels":{"a":"b"}},"rootfs":{"diff_ids":[]}}')
    registry.add('org/app', 'v1', { schemaVersion: 2, config, layers: [] })
    await expect(pullBundle(open(), at('org/app:v1'))).rejects.toMatchObject({ code: 'unsupported' })
    expect(await open({ platforms: true }).resolve(at('org/app:v1'))).toMatchObject({ kind: 'unsupported' })
  })
})

describe('waits', () => {
  test.each([
    ['0', 5],
    ['999999999', 6 * 3600],
    ['never', 300],
  ])('Retry-After: %s is believed within bounds', async (value, retryAfter) => {
    registry.script = (_, response) => void response.writeHead(429, { 'retry-after': value }).end()
    expect(await open({ limits: { attempts: 1 } }).resolve(at('org/app:v1'))).toMatchObject({
      kind: 'unknown',
      retryAfter,
    })
  })
})
