// Publishes catalog images to docker-registry, and checks them with skopeo and opm. All tests share one registry.
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { CatalogPublisher } from '../../../src/adapters/image/catalog-publisher.ts'
import {
  renderCompositeCatalogFiles,
  parseCompositeCatalogSpec,
} from '../../../src/adapters/image/composite-catalog.ts'
import { RegistryCatalogPublisher } from '../../../src/adapters/image/open-catalog-publisher.ts'
import { RegistryImagePusher, type ImagePusher } from '../../../src/adapters/image/open-pusher.ts'
import { readCatalogFolder } from '../../../src/adapters/image/local-build.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { compareServing } from '../../../scripts/compare-serving.ts'
import { findMissingProgram } from '../../left-out.ts'
import { createManualClock } from '../registry/manual-clock.ts'
import { startRealRegistry, type RealRegistry } from '../registry/real-registry.ts'
import { createSmallCatalog } from './small-catalog.ts'

const describeIfRegistryInstalled = findMissingProgram('docker-registry', 'skopeo') ? describe.skip : describe

describeIfRegistryInstalled('a catalog image', () => {
  let server: RealRegistry
  let registry: RegistryClient
  let pusher: ImagePusher
  let publisher: CatalogPublisher
  let base: string
  const folders: string[] = []

  beforeAll(async () => {
    server = await startRealRegistry()
    const egress = allowLoopbackRegistries(server.host)
    registry = new HttpRegistryClient({ clock: createManualClock(), egress })
    pusher = new RegistryImagePusher({ clock: createManualClock(), egress, credentials: [] })
    publisher = new RegistryCatalogPublisher({ registry, pusher, packsIn: 'here' })
    const architectures = ['amd64', 'arm64']
    const layers = [Buffer.concat([Buffer.alloc(1024)])]
    await server.push({ layers, architectures, labels: { of: 'base' } }, 'base/opm:1', { format: 'oci' })
    await server.push({ layers: [Buffer.alloc(2048)], architectures, labels: { of: 'new' } }, 'base/opm:2')
    base = `${server.host}/base/opm:1`
  })
  afterAll(async () => {
    await publisher.close()
    await registry.close()
    await server.close()
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
  })

  const target = (name: string, ...tags: readonly string[]) => ({
    repository: `${server.host}/${name}`,
    tags: tags.length === 0 ? ['v1'] : tags,
  })
  const at = (name: string, tag = 'v1') => `${server.host}/${name}:${tag}`
  const skopeo = (...args: readonly string[]) => {
    const run = spawnSync('skopeo', args, { encoding: 'utf8', timeout: 20_000 })
    if (run.status !== 0) throw new Error(run.stderr)
    return run.stdout
  }
  const folder = async () => {
    const path = await mkdtemp(join(tmpdir(), 'catalog-image-'))
    folders.push(path)
    return path
  }

  test('has all platforms of its base, the configuration of opm’s Dockerfile, and the catalog', async () => {
    const files = createSmallCatalog()
    const order = {
      files,
      base,
      labels: { team: 'a' },
      annotations: { 'org.opencontainers.image.revision': 'r1' },
    }
    const published = await publisher.publish(order, target('org/catalog', 'v1', 'latest'))
    expect(published).toMatchObject({
      unchanged: false,
      tags: [{ before: undefined }, { before: undefined }],
    })
    // The base's layer was mounted from its own repository.
    expect(published.blobs.mounted).toBe(1)
    const found = await publisher.read(at('org/catalog', 'latest'))
    expect(found).toMatchObject({
      digest: published.digest,
      contentDigest: published.contentDigest,
      platforms: ['linux/amd64', 'linux/arm64'],
      labels: { of: 'base', team: 'a', 'operators.operatorframework.io.index.configs.v1': '/configs' },
      annotations: { 'org.opencontainers.image.revision': 'r1', 'org.opencontainers.image.base.name': base },
    })
    expect(found.files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()])).toEqual(
      files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]),
    )
    const config = JSON.parse(
      skopeo(
        'inspect',
        '--config',
        '--tls-verify=false',
        '--override-arch=arm64',
        `docker://${at('org/catalog')}`,
      ),
    ) as { config: unknown; architecture: string }
    expect(config).toMatchObject({
      architecture: 'arm64',
      config: { Entrypoint: ['/bin/opm'], Cmd: ['serve', '/configs', '--cache-dir=/tmp/cache'] },
    })
    await expect(publisher.verify(at('org/catalog'), files)).resolves.toMatchObject({ isSame: true })
    const other = createSmallCatalog({ description: 'another' })
    await expect(publisher.verify(at('org/catalog'), other)).resolves.toMatchObject({
      isSame: false,
      differences: [{ path: 'foo/catalog.yaml', kind: 'different' }],
    })
  })

  test('is unchanged if only the order of its files and its revision change', async () => {
    const order = { files: createSmallCatalog(), base }
    const first = await publisher.publish(order, target('org/same'))
    const again = await publisher.publish(
      {
        ...order,
        files: [...order.files].reverse(),
        annotations: { 'org.opencontainers.image.revision': 'r2' },
      },
      target('org/same'),
    )
    expect(again).toMatchObject({ unchanged: true, digest: first.digest, blobs: { uploaded: 0 } })
    const changed = await publisher.publish(
      { ...order, files: createSmallCatalog({ description: 'b' }) },
      target('org/same'),
    )
    expect(changed).toMatchObject({
      unchanged: false,
      tags: [{ before: first.digest, after: changed.digest }],
    })
    // The old image keeps its digest, so that a rollback can find it.
    const back = await publisher.retag(`${server.host}/org/same@${first.digest}`, target('org/same'))
    expect(back).toMatchObject({ digest: first.digest, unchanged: false, contentDigest: first.contentDigest })
    await expect(publisher.digestOf(at('org/same'))).resolves.toBe(first.digest)
    await expect(publisher.listTags(`${server.host}/org/same`)).resolves.toEqual(['v1'])
  })

  test('is not built again if an earlier build is cached', async () => {
    const remembered = new Map<string, string>()
    const buildCache = {
      get: async (key: string) => remembered.get(key),
      set: async (key: string, value: string) => void remembered.set(key, value),
    }
    const cachingPublisher = new RegistryCatalogPublisher({ registry, pusher, buildCache, packsIn: 'here' })
    const order = { files: createSmallCatalog(), base }
    const first = await cachingPublisher.publish(order, target('org/known'))
    const again = await cachingPublisher.publish(order, target('org/known'))
    expect(again).toMatchObject({ unchanged: true, digest: first.digest })
    expect(again.image).toBeUndefined()
    // An image that another publisher pushed to the tag is not mistaken for it.
    await publisher.publish(
      { ...order, files: createSmallCatalog({ description: 'c' }) },
      target('org/known'),
    )
    await expect(cachingPublisher.publish(order, target('org/known'))).resolves.toMatchObject({
      unchanged: false,
      contentDigest: first.contentDigest,
    })
  })

  test('in a dry run reports what would change and writes nothing', async () => {
    const order = { files: createSmallCatalog(), base }
    const dryRunResult = await publisher.publish(order, { ...target('org/trial'), dryRun: true })
    expect(dryRunResult).toMatchObject({
      unchanged: false,
      tags: [{ before: undefined, after: dryRunResult.digest }],
    })
    await expect(publisher.listTags(`${server.host}/org/trial`)).resolves.toEqual([])
    // The real run has the same digest.
    await expect(publisher.publish(order, target('org/trial'))).resolves.toMatchObject({
      digest: dryRunResult.digest,
    })
  })

  test('on a new base is identical to a build on that base', async () => {
    const order = { files: createSmallCatalog(), base, labels: { team: 'a' } }
    await publisher.publish(order, target('org/rebased'))
    const newBase = `${server.host}/base/opm:2`
    const rebased = await publisher.rebase({ image: at('org/rebased'), base: newBase })
    const built = await publisher.build({ ...order, base: newBase })
    expect(rebased.digest).toBe(built.digest)
    const published = await publisher.push(rebased, target('org/rebased'))
    expect(published).toMatchObject({ unchanged: false, digest: built.digest })
    await expect(publisher.verify(at('org/rebased'), order.files)).resolves.toMatchObject({ isSame: true })
    await expect(publisher.rebase({ image: base, base: newBase })).rejects.toMatchObject({
      code: 'not-a-catalog',
    })
    await expect(
      publisher.publish({ ...order, base: at('org/rebased') }, target('org/x')),
    ).rejects.toMatchObject({ code: 'base' })
  })

  test('is rejected if its tag has moved, and the tag stays unchanged', async () => {
    const files = createSmallCatalog()
    const first = await publisher.publish({ files, base }, target('org/moved'))
    const other = await publisher.publish(
      { files: createSmallCatalog({ description: 'd' }), base },
      target('org/moved'),
    )
    await expect(
      publisher.publish(
        { files: createSmallCatalog({ description: 'e' }), base },
        { ...target('org/moved'), expected: { v1: first.digest } },
      ),
    ).rejects.toMatchObject({ code: 'tag-moved', retryable: true })
    // A race between the last check and the tag: another publisher moves the tag during our upload.
    const racing = new RegistryCatalogPublisher({
      registry,
      packsIn: 'here',
      pusher: {
        ...pusher,
        async push(order) {
          if (order.tags.length === 0)
            await publisher.retag(`${server.host}/org/moved@${first.digest}`, target('org/moved'))
          return pusher.push(order)
        },
      },
    })
    await expect(
      racing.publish({ files: createSmallCatalog({ description: 'f' }), base }, target('org/moved')),
    ).rejects.toMatchObject({ code: 'tag-moved', message: expect.stringContaining(other.digest) })
    await expect(publisher.digestOf(at('org/moved'))).resolves.toBe(first.digest)
  })

  test('interrupted between manifest and tag is finished by the next run without an upload', async () => {
    const order = { files: createSmallCatalog({ description: 'g' }), base }
    const killed = new RegistryCatalogPublisher({
      registry,
      packsIn: 'here',
      pusher: {
        ...pusher,
        push: (order) => (order.tags.length > 0 ? Promise.reject(new Error('killed')) : pusher.push(order)),
      },
    })
    await expect(killed.publish(order, target('org/killed'))).rejects.toThrow('killed')
    await expect(publisher.digestOf(at('org/killed'))).resolves.toBeUndefined()
    await expect(publisher.publish(order, target('org/killed'))).resolves.toMatchObject({
      unchanged: false,
      blobs: { uploaded: 0, mounted: 0 },
    })
  })

  test('has its attachments at the OCI fallback tag if the registry does not support referrers', async () => {
    const { digest, mediaType } = await publisher.publish(
      { files: createSmallCatalog(), base },
      target('org/attached'),
    )
    const empty = { mediaType: 'application/vnd.oci.empty.v1+json', digest: emptyJsonDigest, size: 2 }
    const attachment = (annotations: Record<string, string>) => ({
      repository: `${server.host}/org/attached`,
      manifest: {
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        bytes: Buffer.from(
          JSON.stringify({
            schemaVersion: 2,
            mediaType: 'application/vnd.oci.image.manifest.v1+json',
            artifactType: 'application/spdx+json',
            config: empty,
            layers: [empty],
            subject: { mediaType, digest, size: 1 },
            annotations,
          }),
        ),
      },
      blobs: [{ digest: emptyJsonDigest, size: 2, read: async () => Buffer.from('{}') }],
    })
    await publisher.attach(attachment({ n: '1' }))
    await publisher.attach(attachment({ n: '1' }))
    const second = await publisher.attach(attachment({ n: '2' }))
    const list = await registry.fetchManifest({
      host: server.host,
      repository: 'org/attached',
      tag: digest.replace(':', '-'),
    })
    expect(list.manifest).toMatchObject({ kind: 'index', manifests: [{}, { digest: second.digest }] })
  })

  test('is identical from other folders, dates, permissions, and processes', async () => {
    const order = { base, labels: { a: 'b' } }
    const here = await publisher.build({ ...order, files: createSmallCatalog() })
    const other = await folder()
    for (const { path, bytes } of createSmallCatalog()) {
      await mkdir(dirname(join(other, path)), { recursive: true, mode: 0o700 })
      await writeFile(join(other, path), bytes, { mode: 0o600 })
      await utimes(join(other, path), 1, 2)
    }
    const apart = new RegistryCatalogPublisher({ registry, pusher })
    expect((await apart.build({ ...order, files: await readCatalogFolder(other) })).digest).toBe(here.digest)
    await symlink('foo/catalog.yaml', join(other, 'link.yaml'))
    await expect(readCatalogFolder(other)).rejects.toMatchObject({
      message: expect.stringContaining('is a link'),
    })
    const broken = [{ path: 'catalog.yaml', bytes: Buffer.from('schema: olm.package\nname: foo\n') }]
    await expect(apart.build({ ...order, files: broken })).rejects.toMatchObject({
      code: 'invalid-catalog',
      message: expect.stringContaining('invalid package "foo"'),
    })
  })

  test('is published despite registry errors and broken connections', async () => {
    const failing = await startFlakyProxy(server.host)
    const egress = allowLoopbackRegistries(failing.host)
    const reader = new HttpRegistryClient({ clock: createManualClock(), egress })
    const writer = new RegistryImagePusher({ clock: createManualClock(), egress, credentials: [] })
    const through = new RegistryCatalogPublisher({ registry: reader, pusher: writer, packsIn: 'here' })
    const files = createSmallCatalog({ description: 'faults' })
    const order = { files, base: `${failing.host}/base/opm:1` }
    const published = await through.publish(order, { repository: `${failing.host}/org/faults`, tags: ['v1'] })
    expect(failing.faults()).toBeGreaterThan(5)
    await expect(publisher.verify(at('org/faults'), files)).resolves.toMatchObject({
      isSame: true,
      digest: published.digest,
    })
    await through.close()
    await reader.close()
    await failing.close()
  })

  test('of a composite list has the content of its images, each in a separate folder', async () => {
    await publisher.publish({ files: createSmallCatalog(), base: 'scratch' }, target('org/part'))
    const list = parseCompositeCatalogSpec(
      Buffer.from(
        `name: all\nrepo: ${server.host}/org/composite\ntag: v1\nreferences:\n- name: foo\n  image: ${at('org/part')}\n`,
      ),
    )
    expect(list).toMatchObject({ name: 'all', repository: `${server.host}/org/composite`, tag: 'v1' })
    const files = await renderCompositeCatalogFiles(registry, list, 'catalogs/list.yaml')
    expect(files.map(({ path }) => path)).toEqual(['foo/index.yaml'])
    await publisher.publish({ files, base }, { repository: list.repository ?? '', tags: [list.tag ?? ''] })
    const { files: found } = await publisher.read(at('org/composite'))
    const [index] = found
    expect(Buffer.from(index?.bytes ?? []).toString()).toMatch(
      /^\{\n {4}"schema": "olm.package",\n {4}"name": "foo"/,
    )
    const notOne = parseCompositeCatalogSpec(
      Buffer.from(`name: all\nreferences:\n- name: base\n  image: ${base}\n`),
    )
    await expect(renderCompositeCatalogFiles(registry, notOne, 'catalogs/list.yaml')).rejects.toMatchObject({
      code: 'invalid-catalog',
      message: expect.stringMatching(/^base: .* is not a bundle/),
    })
  })

  test.each([
    ['with an uncompressed layer', { compression: 'none' }],
    ['in Docker’s format', { format: 'docker' }],
    ['without a cache', { cache: false }],
    ['from scratch', { base: 'scratch' }],
  ] as const)('%s is read and copied by skopeo', async (name, more) => {
    const repository = `org/${name.replaceAll(/[^a-z]+/g, '-')}`
    const { digest } = await publisher.publish(
      { files: createSmallCatalog(), base, ...more },
      target(repository),
    )
    const raw = skopeo('inspect', '--raw', '--tls-verify=false', `docker://${at(repository)}`)
    expect(JSON.parse(raw)).toMatchObject({ manifests: expect.arrayContaining([expect.anything()]) })
    const copy = join(await folder(), 'layout')
    skopeo(
      'copy',
      '--all',
      '--quiet',
      '--insecure-policy',
      '--src-tls-verify=false',
      `docker://${at(repository)}`,
      `oci:${copy}:x`,
    )
    await expect(
      publisher.verify(`${server.host}/${repository}@${digest}`, createSmallCatalog()),
    ).resolves.toMatchObject({ isSame: true })
  })

  const withOpm = findMissingProgram('opm', 'tar') ? test.skip : test
  withOpm('is served by opm from its matching cache, with the same answers as ours', async () => {
    const { layer, blobs } = await publisher.build({
      files: createSmallCatalog(),
      base: 'scratch',
      compression: 'none',
    })
    const root = await folder()
    await writeFile(
      join(root, 'layer.tar'),
      await (blobs[0]?.read() ?? Promise.reject(new Error('no layer'))),
    )
    spawnSync('tar', ['xpf', 'layer.tar'], { cwd: root })
    const { calls, differences } = await compareServing(join(root, 'configs'), join(root, 'tmp', 'cache'))
    expect(differences).toEqual([])
    // ListPackages and the calls for each package.
    expect(calls).toBeGreaterThan(20)
    // opm does not start with the cache of another catalog.
    await writeFile(join(root, 'configs', 'foo', 'catalog.yaml'), '---\nschema: other\n', { flag: 'a' })
    await expect(compareServing(join(root, 'configs'), join(root, 'tmp', 'cache'))).rejects.toThrow(
      /integrity|digest/,
    )
    expect(layer.cacheDigest).toMatch(/^[0-9a-f]{16}$/)
  })
})

const emptyJsonDigest = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'

/** A proxy on which the first request of each kind fails: with HTTP 500, or by breaking in the middle. */
async function startFlakyProxy(host: string) {
  const seenRequests = new Set<string>()
  let faults = 0
  const proxy = createHttpServer((incoming, outgoing) => {
    const kind = `${incoming.method} ${(incoming.url ?? '').replace(/sha256:[0-9a-f]+/, '').replace(/uploads\/.*/, 'uploads')}`
    if (!seenRequests.has(kind)) {
      seenRequests.add(kind)
      faults += 1
      if (incoming.method === 'PUT' && kind.includes('uploads'))
        return void incoming.once('data', () => incoming.socket.destroy())
      incoming.resume()
      return void outgoing.writeHead(500, { 'content-type': 'text/plain' }).end('try again')
    }
    const [name, port] = host.split(':')
    const { host: own, ...headers } = incoming.headers
    const passed = request(
      {
        host: name,
        port,
        method: incoming.method,
        path: incoming.url,
        headers: { ...headers, host: own ?? '' },
      },
      (reply) => {
        outgoing.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(outgoing)
      },
    )
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready))
  const { port } = proxy.address() as AddressInfo
  return {
    host: `127.0.0.1:${port}`,
    faults: () => faults,
    close: () => new Promise((done) => (proxy.closeAllConnections(), proxy.close(done))),
  }
}
