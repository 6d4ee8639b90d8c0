// Tests the client against docker-registry without authentication, with htpasswd, and with a token service in the test.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RegistryCredential } from '../../../src/adapters/registry/auth/credentials.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import { RegistryImagePusher } from '../../../src/adapters/image/open-pusher.ts'
import { findMissingProgram } from '../../left-out.ts'
import { createManualClock } from './manual-clock.ts'
import { createStaticCredentialSource } from './scripted-registry.ts'
import { createImageIndex, createImage } from '../image/create-images.ts'
import { startRealRegistry, type RealRegistry } from './real-registry.ts'
import { startTokenServer } from './auth/token-server.ts'

const describeIfRegistryInstalled = findMissingProgram('docker-registry', 'skopeo', 'htpasswd')
  ? describe.skip
  : describe

const sampleImageSpec = { layers: [Buffer.alloc(1024)] }
const robotAccountCredential = { kind: 'basic', username: 'robot', password: 'secret' } as const

async function resolveAllImages(
  registry: RealRegistry,
  credential: RegistryCredential | undefined,
  more: readonly string[] = [],
  platforms = false,
) {
  const client = new HttpRegistryClient({
    clock: createManualClock(),
    platforms,
    egress: { ...allowLoopbackRegistries(registry.host, ...more), tokenHosts: { [registry.host]: more } },
    credentials: credential ? [createStaticCredentialSource({ [registry.host]: credential })] : [],
    limits: { attempts: 1 },
  })
  return { resolve: (name: string) => client.resolve(`${registry.host}/${name}`), client }
}

describeIfRegistryInstalled('an open docker-registry', () => {
  let registry: RealRegistry
  beforeAll(async () => {
    registry = await startRealRegistry()
  })
  afterAll(() => registry.close())

  test('has images of all four types that skopeo pushed, with the same digests', async () => {
    const pushed = {
      'a/oci:1': await registry.push(sampleImageSpec, 'a/oci:1', { format: 'oci' }),
      'a/docker:1': await registry.push(sampleImageSpec, 'a/docker:1', { format: 'v2s2' }),
      'a/index:1': await registry.push(
        { ...sampleImageSpec, architectures: ['amd64', 'arm64'] },
        'a/index:1',
        { format: 'oci' },
      ),
      'a/list:1': await registry.push({ ...sampleImageSpec, architectures: ['amd64', 's390x'] }, 'a/list:1', {
        format: 'v2s2',
      }),
    }
    const { resolve, client } = await resolveAllImages(registry, undefined)
    const withPlatforms = await resolveAllImages(registry, undefined, [], true)
    for (const [name, digest] of Object.entries(pushed)) {
      expect(await resolve(name)).toMatchObject({ kind: 'ok', digest })
      expect(await resolve(`${name.split(':')[0]}@${digest}`)).toMatchObject({ kind: 'ok', digest })
    }
    expect(await withPlatforms.resolve('a/oci:1')).toMatchObject({ platforms: ['linux/amd64'] })
    expect(await withPlatforms.resolve('a/index:1')).toMatchObject({
      platforms: ['linux/amd64', 'linux/arm64'],
    })
    expect(await withPlatforms.resolve('a/list:1')).toMatchObject({
      platforms: ['linux/amd64', 'linux/s390x'],
    })
    expect(await resolve('a/oci:2')).toMatchObject({ kind: 'missing' })
    expect(await resolve('a/none:1')).toMatchObject({ kind: 'missing' })
    expect(await resolve(`a/oci@sha256:${'0'.repeat(64)}`)).toMatchObject({ kind: 'missing' })
    await Promise.all([client.close(), withPlatforms.client.close()])
  })
})

describeIfRegistryInstalled('docker-registry behind htpasswd', () => {
  test('serves images only with the correct password', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'htpasswd-'))
    const file = join(folder, 'htpasswd')
    await writeFile(file, spawnSync('htpasswd', ['-Bbn', 'robot', 'secret']).stdout)
    const registry = await startRealRegistry({ kind: 'htpasswd', file })
    const digest = await registry.push(sampleImageSpec, 'a/b:1', { credentials: 'robot:secret' })
    const known = await resolveAllImages(registry, robotAccountCredential)
    expect(await known.resolve('a/b:1')).toMatchObject({ kind: 'ok', digest })
    expect(await known.resolve('a/b:2')).toMatchObject({ kind: 'missing' })
    const anonymous = await resolveAllImages(registry, undefined)
    expect(await anonymous.resolve('a/b:1')).toMatchObject({ kind: 'missing-or-private' })
    const wrong = await resolveAllImages(registry, { ...robotAccountCredential, password: 'wrong' })
    expect(await wrong.resolve('a/b:1')).toMatchObject({ kind: 'unknown' })
    await Promise.all([known, anonymous, wrong].map(({ client }) => client.close()))
    await registry.close()
    await rm(folder, { recursive: true })
  })
})

describeIfRegistryInstalled('docker-registry behind a token service', () => {
  test('needs one token for each repository, and serves only public images anonymously', async () => {
    const service = await startTokenServer()
    const tokenHost = service.host
    const registry = await startRealRegistry(service.login)
    const secret = await registry.push(sampleImageSpec, 'private/b:1', { credentials: 'robot:secret' })
    const open = await registry.push(sampleImageSpec, 'public/b:1', { credentials: 'robot:secret' })
    service.scopes.length = 0
    const known = await resolveAllImages(registry, robotAccountCredential, [tokenHost])
    const answers = await Promise.all(Array.from({ length: 20 }, () => known.resolve('private/b:1')))
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'ok', digest: secret })
    expect(service.scopes).toEqual(['repository:private/b:pull'])
    expect(await known.resolve('private/b:2')).toMatchObject({ kind: 'missing' })
    const anonymous = await resolveAllImages(registry, undefined, [tokenHost])
    expect(await anonymous.resolve('public/b:1')).toMatchObject({ kind: 'ok', digest: open })
    expect(await anonymous.resolve('private/b:1')).toMatchObject({ kind: 'missing-or-private' })
    await Promise.all([known.client.close(), anonymous.client.close(), registry.close()])
    await service.close()
  })
})

/** Pushes with our pusher, and reads back with skopeo and our reader. */
async function expectImagePushAndReadBack(
  registry: RealRegistry,
  credential: RegistryCredential | undefined,
  tokenHosts: readonly string[] = [],
): Promise<void> {
  const egress = {
    ...allowLoopbackRegistries(registry.host, ...tokenHosts),
    tokenHosts: { [registry.host]: tokenHosts },
  }
  const credentials = credential ? [createStaticCredentialSource({ [registry.host]: credential })] : []
  const pusher = new RegistryImagePusher({
    clock: createManualClock(),
    egress,
    credentials,
    limits: { attempts: 1 },
  })
  const reader = new HttpRegistryClient({
    clock: createManualClock(),
    egress,
    credentials,
    limits: { attempts: 1 },
  })
  const skopeo = async (name: string) => {
    const login = credential?.kind === 'basic' ? [`--creds=robot:secret`] : ['--no-creds']
    const { stdout } = await promisify(execFile)(
      'skopeo',
      ['inspect', '--raw', '--tls-verify=false', ...login, `docker://${registry.host}/${name}`],
      { timeout: 20_000, encoding: 'buffer' },
    )
    return stdout
  }
  const where = { host: registry.host, repository: 'pushed/app' }
  const single = createImage({ 'configs/a.yaml': 'a' })
  const order = { ...where, ...single, tags: ['v1', 'latest'] }
  const pushed = await pusher.push(order)
  expect(pushed.blobs).toEqual({ present: 0, mounted: 0, uploaded: 2 })
  for (const name of ['pushed/app:v1', 'pushed/app:latest', `pushed/app@${pushed.digest}`]) {
    expect(await skopeo(name)).toEqual(single.manifests[0].bytes)
    expect(await reader.resolve(`${registry.host}/${name}`)).toMatchObject({
      kind: 'ok',
      digest: pushed.digest,
    })
  }
  // A repeated push uploads nothing.
  expect(await pusher.push(order)).toEqual({
    digest: pushed.digest,
    blobs: { present: 2, mounted: 0, uploaded: 0 },
  })
  // A push to another repository mounts the blobs without reading them.
  const mounting = {
    ...single,
    blobs: single.blobs.map((blob) => ({
      ...blob,
      mountFrom: where.repository,
      read: () => Promise.reject(new Error('read')),
    })),
  }
  expect(
    (await pusher.push({ ...where, repository: 'pushed/copy', ...mounting, tags: ['v1'] })).blobs,
  ).toEqual({ present: 0, mounted: 2, uploaded: 0 })
  // If the source repository does not have the blobs, the push uploads them.
  const wrong = { ...single, blobs: single.blobs.map((blob) => ({ ...blob, mountFrom: 'pushed/nothing' })) }
  expect((await pusher.push({ ...where, repository: 'pushed/other', ...wrong, tags: [] })).blobs).toEqual({
    present: 0,
    mounted: 0,
    uploaded: 2,
  })
  const index = createImageIndex(['amd64', 'arm64'])
  const many = await pusher.push({ ...where, repository: 'pushed/many', ...index, tags: ['v1'] })
  const detailed = new HttpRegistryClient({
    clock: createManualClock(),
    egress,
    credentials,
    platforms: true,
  })
  expect(await detailed.resolve(`${registry.host}/pushed/many:v1`)).toMatchObject({
    kind: 'ok',
    digest: many.digest,
    platforms: ['linux/amd64', 'linux/arm64'],
  })
  // The registry rejects a manifest with missing blobs, and no tag is created.
  await expect(
    pusher.push({ ...where, repository: 'pushed/empty', ...single, blobs: [], tags: ['v1'] }),
  ).rejects.toThrow(/^push to .*\/pushed\/empty failed: .*(MANIFEST|BLOB)/)
  expect(await reader.resolve(`${registry.host}/pushed/empty:v1`)).toMatchObject({ kind: 'missing' })
  await Promise.all([pusher, reader, detailed].map((one) => one.close()))
}

describeIfRegistryInstalled('our own pusher', () => {
  test('pushes images without authentication, and skopeo and our reader find them', async () => {
    const registry = await startRealRegistry()
    await expectImagePushAndReadBack(registry, undefined)
    await registry.close()
  })
  test('pushes in chunks through a proxy that limits the body size', async () => {
    const registry = await startRealRegistry()
    const sizes: number[] = []
    const proxy = createServer((incoming, outgoing) => {
      const size = Number(incoming.headers['content-length'] ?? 0)
      if (incoming.method === 'PUT' || incoming.method === 'PATCH') sizes.push(size)
      if (size > 1000) return void outgoing.writeHead(413).end()
      const [hostname, port] = registry.host.split(':')
      const { method, url: path, headers } = incoming
      const onward = request({ hostname, port, method, path, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(outgoing)
      })
      incoming.pipe(onward)
    })
    await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready))
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const egress = allowLoopbackRegistries(host)
    const pusher = new RegistryImagePusher({
      clock: createManualClock(),
      egress,
      credentials: [],
      limits: { chunkBytes: 1000 },
    })
    const noise = Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * n * 7919) >> 5))
    const large = createImage({ 'configs/large': noise })
    const { digest, blobs } = await pusher.push({ host, repository: 'a/large', ...large, tags: ['v1'] })
    expect(blobs.uploaded).toBe(2)
    expect(sizes.filter((size) => size === 1000).length).toBeGreaterThan(0)
    const reader = new HttpRegistryClient({ clock: createManualClock(), egress })
    const pulled = await reader.fetchManifest({ host, repository: 'a/large', tag: 'v1' })
    expect(pulled.digest).toBe(digest)
    const layer = pulled.manifest.kind === 'image' ? pulled.manifest.layers[0] : undefined
    expect(layer?.size).toBeGreaterThan(2000)
    if (layer) await reader.fetchBlob({ host, repository: 'a/large' }, layer)
    await Promise.all([pusher.close(), reader.close(), registry.close()])
    await new Promise((done) => {
      proxy.close(done)
      proxy.closeAllConnections()
    })
  })
  test('pushes with htpasswd, and reports a missing or wrong password', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'htpasswd-'))
    const file = join(folder, 'htpasswd')
    await writeFile(file, spawnSync('htpasswd', ['-Bbn', 'robot', 'secret']).stdout)
    const registry = await startRealRegistry({ kind: 'htpasswd', file })
    await expectImagePushAndReadBack(registry, robotAccountCredential)
    for (const credential of [undefined, { ...robotAccountCredential, password: 'wrong' }]) {
      const pusher = new RegistryImagePusher({
        clock: createManualClock(),
        egress: allowLoopbackRegistries(registry.host),
        credentials: credential ? [createStaticCredentialSource({ [registry.host]: credential })] : [],
        limits: { attempts: 1 },
      })
      const order = {
        host: registry.host,
        repository: 'pushed/app',
        ...createImage({ a: '1' }),
        tags: ['v9'],
      }
      await expect(pusher.push(order)).rejects.toMatchObject({ code: 'credentials' })
      await pusher.close()
    }
    await registry.close()
    await rm(folder, { recursive: true })
  })
  test('requests push access from a token service, while the reader requests only pull access', async () => {
    const service = await startTokenServer()
    const registry = await startRealRegistry(service.login)
    await expectImagePushAndReadBack(registry, robotAccountCredential, [service.host])
    expect(service.scopes).toContain('repository:pushed/app:pull,push')
    expect(service.scopes).toContain('repository:pushed/copy:pull,push repository:pushed/app:pull')
    service.scopes.length = 0
    const reader = await resolveAllImages(registry, robotAccountCredential, [service.host])
    await reader.resolve('pushed/app:v1')
    expect(service.scopes).toEqual(['repository:pushed/app:pull'])
    await Promise.all([reader.client.close(), registry.close(), service.close()])
  })
})
