// Pulls bundle images into memory, from docker-registry (compared with what opm renders from the same image) and from a
// malicious registry.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readRegistryBundle } from '../../../packages/bundle/src/registry-bundle.ts'
import { renderBundle, type OlmBundleBlob } from '../../../packages/bundle/src/render/render-bundle.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { manifestMediaTypes } from '../../../src/adapters/registry/manifest.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { pullBundle, readBundle } from '../../../src/adapters/registry/pull-bundle.ts'
import { createBundleFiles, sampleBundles } from '../../packages/bundle/sample-bundles.ts'
import { findMissingProgram } from '../../left-out.ts'
import { createManualClock } from './manual-clock.ts'
import { startRealRegistry, type RealRegistry } from './real-registry.ts'
import { startScriptedRegistry, computeSha256Digest, type ScriptedRegistry } from './scripted-registry.ts'
import { createTarOfFiles } from './tar-writer.ts'

const bundlePackageLabels = { 'operators.operatorframework.io.bundle.package.v1': 'x' }

;(findMissingProgram('docker-registry', 'skopeo', 'opm') ? describe.skip : describe)(
  'from docker-registry',
  () => {
    let registry: RealRegistry
    let client: RegistryClient
    beforeAll(async () => {
      registry = await startRealRegistry()
      client = new HttpRegistryClient({
        clock: createManualClock(),
        egress: allowLoopbackRegistries(registry.host),
      })
    })
    afterAll(async () => {
      await client.close()
      await registry.close()
    })

    test.each(['everything-in-the-metadata', 'images-of-deployments'])(
      '%s is rendered as by opm',
      async (name) => {
        const files = [...createBundleFiles(name, sampleBundles[name])]
        // One layer for the manifests and one for the metadata, as in the Dockerfile of a bundle.
        const layer = (directory: string) =>
          createTarOfFiles(Object.fromEntries(files.filter(([path]) => path.startsWith(directory))))
        const image = { labels: bundlePackageLabels, layers: [layer('manifests/'), layer('metadata/')] }
        const digest = await registry.push(image, `test/${name}:v1`)
        const reference = `${registry.host}/test/${name}@${digest}`
        const pulled = await pullBundle(client, reference)
        expect(pulled).toMatchObject({ digest, labels: bundlePackageLabels })
        expect(await client.readBundle(reference)).toMatchObject({
          kind: 'bundle',
          digest,
          content: { name: `${name}.v1.0.0`, package: name },
        })
        const { bundle } = readRegistryBundle(pulled.files)
        if (!bundle) throw new Error('no bundle')
        const { stdout } = await promisify(execFile)(
          'opm',
          ['render', reference, '--use-http', '--migrate-level', 'bundle-object-to-csv-metadata'],
          { timeout: 60_000 },
        )
        expect(JSON.parse(JSON.stringify(renderBundle(bundle, reference, { csvMetadata: true })))).toEqual(
          JSON.parse(stdout) as OlmBundleBlob,
        )
      },
    )

    test('a multi-platform bundle is pulled for one platform', async () => {
      const layer = createTarOfFiles({ 'manifests/a.yaml': 'a: 1' })
      const digest = await registry.push(
        { labels: bundlePackageLabels, layers: [layer], architectures: ['arm64', 'amd64'] },
        'test/index:v1',
      )
      const pulled = await pullBundle(client, `${registry.host}/test/index:v1`)
      expect(pulled.digest).toBe(digest)
      expect([...pulled.files.keys()]).toEqual(['manifests/a.yaml'])
    })
  },
)

describe('from a malicious registry', () => {
  let registry: ScriptedRegistry
  let client: RegistryClient
  beforeAll(async () => {
    registry = await startScriptedRegistry()
    client = new HttpRegistryClient({
      clock: createManualClock(),
      egress: allowLoopbackRegistries(registry.host),
      limits: { attempts: 1 },
    })
  })
  afterAll(async () => {
    await client.close()
    await registry.close()
  })
  const archive = createTarOfFiles({ 'manifests/a.yaml': 'a: 1' })
  const descriptor = (
    content: Buffer | string,
    mediaType = 'application/vnd.oci.image.layer.v1.tar+gzip',
  ) => ({ ...registry.addBlob(content), mediaType })
  const config = (diffIds: readonly string[]) =>
    descriptor(JSON.stringify({ rootfs: { diff_ids: diffIds }, config: { Labels: bundlePackageLabels } }))
  const diffId = `sha256:${createHash('sha256').update(archive).digest('hex')}`
  const pull = (name: string) => pullBundle(client, `${registry.host}/${name}`)
  const add = (tag: string, document: object, type: string = manifestMediaTypes.ociManifest) =>
    registry.add('games/b', tag, { schemaVersion: 2, ...document }, type)

  test('a valid image is pulled', async () => {
    add('ok', { config: config([diffId]), layers: [descriptor(gzipSync(archive))] })
    expect([...(await pull('games/b:ok')).files.keys()]).toEqual(['manifests/a.yaml'])
  })
  test('a resolved image is pulled with its manifest of before, and with its config and layers at once', async () => {
    add('found', { config: config([diffId]), layers: [descriptor(gzipSync(archive))] })
    const found = await client.resolve(`${registry.host}/games/b:found`)
    const both = Promise.withResolvers<void>()
    const paths: string[] = []
    registry.script = ({ path }) => {
      if (paths.push(path) === 2) both.resolve()
      return both.promise.then(() => false)
    }
    await pull(`games/b@${found.kind === 'ok' ? found.digest : ''}`)
    registry.script = undefined
    expect(paths).toEqual(Array(2).fill(expect.stringContaining('/blobs/')))
  })
  test.each<[string, () => object, RegExp]>([
    [
      'more than forty layers',
      () => ({ config: config([]), layers: Array.from({ length: 41 }, () => descriptor('x')) }),
      /more than 40 layers/,
    ],
    [
      'layers of more than 100 MiB',
      () => ({ config: config([]), layers: [{ ...descriptor('x'), size: 101 * 1024 * 1024 }] }),
      /layers total more/,
    ],
    [
      'a config of more than 4 MiB',
      () => ({ config: { ...config([]), size: 5 * 1024 * 1024 }, layers: [] }),
      /config is larger/,
    ],
    [
      'layers that are kept elsewhere',
      () => ({
        config: config([diffId]),
        layers: [
          {
            ...descriptor('x', 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip'),
            urls: ['http://127.0.0.1/x'],
          },
        ],
      }),
      /stored outside the registry/,
    ],
    [
      'a config of other layers',
      () => ({ config: config([]), layers: [descriptor(gzipSync(archive))] }),
      /list different layers/,
    ],
    [
      'a manifest that is an index too',
      () => ({ config: config([]), layers: [], manifests: [] }),
      /both an image and an index/,
    ],
  ])('rejects %s', async (name, document, reason) => {
    const tag = name.replace(/\W/g, '')
    const digest = add(tag, document())
    await expect(pull(`games/b@${digest}`)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(reason),
    })
    expect(registry.requests.some(({ path }) => path === '/x')).toBe(false)
  })
  test('reading an invalid bundle returns an answer instead of throwing', async () => {
    add('honest', { config: config([diffId]), layers: [descriptor(gzipSync(archive))] })
    const read = (name: string) => client.readBundle(`${registry.host}/${name}`)
    expect(await read('games/b:honest')).toMatchObject({ kind: 'bundle', findings: expect.any(Array) })
    const climbing = createTarOfFiles({ 'manifests/../../x': '' })
    add('climbing', {
      config: config([`sha256:${createHash('sha256').update(climbing).digest('hex')}`]),
      layers: [descriptor(gzipSync(climbing))],
    })
    expect(await read('games/b:climbing')).toMatchObject({
      kind: 'unsupported',
      reason: expect.stringContaining('points outside the archive'),
    })
    expect(await read('games/b:nothing')).toMatchObject({ kind: 'missing' })
    expect(await read('games/B')).toMatchObject({ kind: 'malformed' })
  })
  test('a bundle that takes too long to unpack is inconclusive, and later bundles are read', async () => {
    add('honest', { config: config([diffId]), layers: [descriptor(gzipSync(archive))] })
    const reference = `${registry.host}/games/b:honest`
    // A small bundle, or one rejected for its first file, could finish before even the shortest timeout.
    const much = 'x'.repeat(8_000_000)
    const large = createTarOfFiles({
      'manifests/a.yaml': 'a: 1',
      ...Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`tests/much-${at}`, much])),
    })
    add('large', {
      config: config([`sha256:${createHash('sha256').update(large).digest('hex')}`]),
      layers: [descriptor(gzipSync(large))],
    })
    const slow = `${registry.host}/games/b:large`
    expect(await readBundle(client, slow, undefined, 0)).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('took longer than 0 milliseconds'),
    })
    const sequence = [1, 2, 3].map(() => client.readBundle(reference))
    for (const answer of await Promise.all(sequence)) expect(answer).toMatchObject({ kind: 'bundle' })
    expect(await client.readBundle(reference)).toMatchObject({ kind: 'bundle' })
  })
  test('a blob that is missing or does not match its descriptor is an error', async () => {
    const honest = descriptor(gzipSync(archive))
    add('larger', { config: config([diffId]), layers: [{ ...honest, size: honest.size - 1 }] })
    await expect(pull('games/b:larger')).rejects.toMatchObject({ code: 'digest-mismatch' })
    add('shorter', { config: config([diffId]), layers: [{ ...honest, size: honest.size + 1 }] })
    await expect(pull('games/b:shorter')).rejects.toMatchObject({ code: 'digest-mismatch' })
    add('gone', { config: config([diffId]), layers: [{ ...honest, digest: computeSha256Digest('nothing') }] })
    await expect(pull('games/b:gone')).rejects.toMatchObject({ code: 'missing' })
  })
  describe('an index', () => {
    const other = gzipSync(createTarOfFiles({ 'manifests/other.yaml': 'x' }))
    const images = () => [
      add('choice1', { config: config([diffId]), layers: [descriptor(gzipSync(archive))] }),
      add('choice2', {
        config: config([computeSha256Digest(createTarOfFiles({ 'manifests/other.yaml': 'x' }))]),
        layers: [descriptor(other)],
      }),
    ]
    const amd64 = { os: 'linux', architecture: 'amd64' }
    const indexOf = (name: string, platforms: readonly (object | undefined)[], digests = images()) =>
      add(
        name,
        {
          manifests: platforms.map((platform, at) => ({
            mediaType: manifestMediaTypes.ociManifest,
            digest: digests[at % digests.length],
            size: 1,
            ...(platform && { platform }),
          })),
        },
        manifestMediaTypes.ociIndex,
      )

    test.each([
      ['the same platform twice', [amd64, amd64]],
      ['a variant of the platform', [amd64, { ...amd64, variant: 'v2' }]],
      ['an OS version of the platform', [{ ...amd64, 'os.version': '1' }, amd64]],
      ['another name of the architecture', [amd64, { os: 'linux', architecture: 'x86_64' }]],
      ['uppercase platform names', [{ os: 'Linux', architecture: 'AMD64' }, amd64]],
      ['an entry without a platform', [undefined, amd64]],
      ['no platforms', [undefined, undefined]],
    ])('with %s for two images is unsupported because readers choose differently', async (_, platforms) => {
      indexOf('choice', platforms)
      await expect(pull('games/b:choice')).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('several candidates'),
      })
    })

    test('with the same image twice, or with an additional platform, is read', async () => {
      const [image, second] = images()
      indexOf('same', [amd64, amd64], [image ?? ''])
      expect((await pull('games/b:same')).files.size).toBeGreaterThan(0)
      indexOf('several', [amd64, { os: 'linux', architecture: 'arm64' }], [image ?? '', second ?? ''])
      expect([...(await pull('games/b:several')).files.keys()]).not.toContain('manifests/other.yaml')
    })
  })
  test('indexes can be nested at most two levels deep', async () => {
    const index = (digest: string) => ({
      manifests: [{ mediaType: manifestMediaTypes.ociIndex, digest, size: 1 }],
    })
    const image = add('deep0', { config: config([diffId]), layers: [descriptor(gzipSync(archive))] })
    const one = add('deep1', index(image), manifestMediaTypes.ociIndex)
    const two = add('deep2', index(one), manifestMediaTypes.ociIndex)
    add('deep3', index(two), manifestMediaTypes.ociIndex)
    expect((await pull('games/b:deep2')).digest).toBe(two)
    await expect(pull('games/b:deep3')).rejects.toMatchObject({ code: 'unsupported' })
    add('none', { manifests: [] }, manifestMediaTypes.ociIndex)
    await expect(pull('games/b:none')).rejects.toMatchObject({
      message: expect.stringContaining('lists no images'),
    })
  })
})
