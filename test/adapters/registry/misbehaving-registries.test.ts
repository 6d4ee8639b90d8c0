// Registries that lie, stumble or drip: each ends in a definite or an unknown answer, as it should, never in an exception
// and never in an image that is not there.
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { mediaTypes } from '../../../src/adapters/registry/manifest.ts'
import { openRegistry, type RegistryClientOptions } from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { pullBundle } from '../../../src/adapters/registry/pull-bundle.ts'
import { createManualClock } from './manual-clock.ts'
import {
  createImageManifest,
  startScriptedRegistry,
  sha256Digest,
  type ScriptedRegistry,
} from './scripted-registry.ts'

let registryServer: ScriptedRegistry
const openClients: RegistryClient[] = []
beforeEach(async () => {
  registryServer = await startScriptedRegistry()
})
afterEach(async () => {
  await Promise.all([...openClients.splice(0).map((client) => client.close()), registryServer.close()])
})
function openClient(options: Partial<RegistryClientOptions> = {}): RegistryClient {
  const client = openRegistry({
    clock: createManualClock(),
    egress: allowLoopbackRegistries(registryServer.host),
    random: () => 0,
    ...options,
  })
  openClients.push(client)
  return client
}
const referenceTo = (rest: string) => `${registryServer.host}/${rest}`
const manifestType = mediaTypes.ociManifest
const sampleLayer = { mediaType: '', digest: sha256Digest('layer'), size: 5 }

describe('a manifest that is none', () => {
  test.each(['[]', '<html></html>', '', 'null', '{}', '"x"', '{"schemaVersion":2}'])(
    '%j does not exist as an image, by digest nor where its digest is told',
    async (body) => {
      const digest = registryServer.add('org/app', 'v1', body)
      for (const platforms of [false, true])
        for (const name of ['org/app:v1', `org/app@${digest}`])
          expect(await openClient({ platforms }).resolve(referenceTo(name))).toMatchObject({
            kind: 'unsupported',
          })
    },
  )
  test('is unknown by tag where nothing vouches for the bytes', async () => {
    registryServer.script = (_, response) =>
      void response.writeHead(200, { 'content-type': manifestType }).end('[]')
    expect(await openClient().resolve(referenceTo('org/app:v1'))).toMatchObject({ kind: 'unknown' })
  })
  test.each<[string, unknown]>([
    ['a key twice', `{"schemaVersion":2,"layers":[],"layers":[],"config":${JSON.stringify(sampleLayer)}}`],
    ['a key in another case', { schemaVersion: 2, config: sampleLayer, layers: [], Layers: [sampleLayer] }],
    ['a long s', { schemaVersion: 2, config: sampleLayer, layers: [], 'layer\u017f': [sampleLayer] }],
    ['a type in capitals', { schemaVersion: 2, config: sampleLayer, layers: [], artifactTYPE: 'x' }],
    [
      'a digest in another case of its key',
      { schemaVersion: 2, layers: [], config: { ...sampleLayer, Digest: sha256Digest('x') } },
    ],
    ['a byte order mark', `\ufeff${JSON.stringify({ schemaVersion: 2, config: sampleLayer, layers: [] })}`],
    ['two documents', `${JSON.stringify({ schemaVersion: 2, config: sampleLayer, layers: [] })}{}`],
    [
      'half a character',
      `{"schemaVersion":2,"layers":[],"config":${JSON.stringify(sampleLayer)},"x":"\\ud800"}`,
    ],
    ['a size with a fraction', { schemaVersion: 2, layers: [], config: { ...sampleLayer, size: '@' } }],
    ['an empty place among the layers', { schemaVersion: 2, layers: [null], config: sampleLayer }],
    ['schema 1 beside it', { schemaVersion: 2, layers: [], config: sampleLayer, fsLayers: [] }],
    ['another version', { schemaVersion: 3, layers: [], config: sampleLayer }],
    ['md5', { schemaVersion: 2, layers: [], config: { ...sampleLayer, digest: `md5:${'0'.repeat(32)}` } }],
    [
      'an algorithm nobody knows',
      { schemaVersion: 2, layers: [], config: { ...sampleLayer, digest: `abc:${'0'.repeat(64)}` } },
    ],
    [
      'capital letters',
      { schemaVersion: 2, layers: [], config: { ...sampleLayer, digest: `sha256:${'A'.repeat(64)}` } },
    ],
  ])('%s is refused for good', async (_name, document) => {
    const text = typeof document === 'string' ? document : JSON.stringify(document).replace('"@"', '5.0')
    const digest = registryServer.add('org/app', 'v1', text)
    expect(await openClient().resolve(referenceTo(`org/app@${digest}`))).toMatchObject({
      kind: 'unsupported',
    })
  })
  test('keys that authors choose may differ in case alone', async () => {
    const annotations = { name: 'a', Name: 'b', size: 'c' }
    const digest = registryServer.add('org/app', 'v1', {
      ...(createImageManifest('x') as object),
      annotations,
      x: { a: 1, A: 2 },
    })
    expect(await openClient().resolve(referenceTo(`org/app@${digest}`))).toMatchObject({ kind: 'ok' })
  })
})

describe('digests', () => {
  test('a reference by a weak or unusual digest is not asked for', async () => {
    expect(await openClient().resolve(referenceTo(`org/app@sha384:${'0'.repeat(96)}`))).toMatchObject({
      kind: 'unsupported',
    })
    expect(registryServer.requests).toHaveLength(0)
  })
  test('sha512 counts', async () => {
    const bytes = JSON.stringify(createImageManifest('x'))
    const digest = `sha512:${createHash('sha512').update(bytes).digest('hex')}`
    registryServer.script = (_, response) =>
      void response
        .writeHead(200, { 'content-type': manifestType, 'content-length': bytes.length })
        .end(bytes)
    expect(await openClient().resolve(referenceTo(`org/app@${digest}`))).toMatchObject({ kind: 'ok', digest })
  })
  test('a digest in the header that is not that of the bytes is no answer', async () => {
    registryServer.script = (_, response) =>
      void response
        .writeHead(200, { 'content-type': manifestType, 'docker-content-digest': sha256Digest('other') })
        .end(JSON.stringify(createImageManifest('x')))
    expect(await openClient().resolve(referenceTo('org/app:v1'))).toMatchObject({ kind: 'unknown' })
  })
})

describe('blobs', () => {
  const fetchLayer = () =>
    openClient().fetchBlob({ host: registryServer.host, repository: 'org/app' }, sampleLayer)
  const answers = (body: string, headers: Record<string, string> = {}, status = 200) => {
    registryServer.script = ({ path }, response) =>
      void (path.includes('/blobs/') && response.writeHead(status, headers).end(body))
  }
  test.each([['layer and more'], ['lay'], ['lairs'], ['']])(
    '%j instead of it is a definite answer',
    async (body) => {
      answers(body)
      await expect(fetchLayer()).rejects.toMatchObject({ code: 'digest-mismatch' })
      expect(registryServer.requests).toHaveLength(2)
    },
  )
  test('one bad transfer is not', async () => {
    registryServer.addBlob('layer')
    registryServer.script = (_request, response, earlier) =>
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
    registryServer.script = (_, response) => {
      response.socket?.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nlay')
      return true
    }
    await expect(fetchLayer()).rejects.toMatchObject({ code: 'network' })
  })
  test('a config that readers take for different things is refused for good', async () => {
    const config = registryServer.addBlob(
      '{"config":{},"Config":{"Labels":{"a":"b"}},"rootfs":{"diff_ids":[]}}',
    )
    registryServer.add('org/app', 'v1', { schemaVersion: 2, config, layers: [] })
    await expect(pullBundle(openClient(), referenceTo('org/app:v1'))).rejects.toMatchObject({
      code: 'unsupported',
    })
    expect(await openClient({ platforms: true }).resolve(referenceTo('org/app:v1'))).toMatchObject({
      kind: 'unsupported',
    })
  })
})

describe('waits', () => {
  test.each([
    ['0', 5],
    ['999999999', 6 * 3600],
    ['never', 300],
  ])('Retry-After: %s is believed within bounds', async (value, retryAfter) => {
    registryServer.script = (_, response) => void response.writeHead(429, { 'retry-after': value }).end()
    expect(await openClient({ limits: { attempts: 1 } }).resolve(referenceTo('org/app:v1'))).toMatchObject({
      kind: 'unknown',
      retryAfter,
    })
  })
})
