// Assembles the container image a second time with catalog-bot's own image builder: the App's files as a layer on the same
// base. The image must have the same files as the one that buildah made of the Dockerfile.
import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { joinByteChunks, type ByteChunkTree } from '../../../packages/fbc/src/go/tar/tar-tree.ts'
import { getTarEndMarker, packTarTree } from '@catalog-bot/fbc/go/tar/tar-tree'
import { fetchMultiPlatformImage } from '../../../src/adapters/image/base-image.ts'
import {
  createImageManifest,
  encodeOciJsonDocument,
  mediaTypesByImageFormat,
} from '../../../src/adapters/image/image-documents.ts'
import { gzipByteChunks } from '../../../src/adapters/image/layer/pack-layer.ts'
import { RegistryImagePusher, type ImagePusher } from '../../../src/adapters/image/open-pusher.ts'
import { computeSha256Digest } from '../../../src/adapters/registry/manifest.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { systemClock } from '../../../src/adapters/system-clock.ts'
import { startRealRegistry, type RealRegistry } from '../../adapters/registry/real-registry.ts'
import { createImageTestDirectory, describeIfImageAvailable, readImageLayout } from './image-layout.ts'
import { unpackImage } from './run-container.ts'

const { manifest: manifestType, config: configType, layers: layerTypes } = mediaTypesByImageFormat.oci

/** Every path with its type, mode, owner, and content. Node's own recursion follows links, which lead out of the image. */
function listDirectoryTree(root: string, folder = ''): readonly string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name)
    const stat = lstatSync(join(root, path))
    const content = stat.isSymbolicLink()
      ? readlinkSync(join(root, path))
      : stat.isFile()
        ? computeSha256Digest(readFileSync(join(root, path)))
        : ''
    const line = `${path} ${stat.mode.toString(8)} ${stat.uid}:${stat.gid} ${content}`
    return stat.isDirectory() ? [line, ...listDirectoryTree(root, path)] : [line]
  })
}

/** The App's directory as a layer. The layer writer uses one mode for all files, so each mode needs a separate tree. */
function packAppLayer(root: string): readonly ByteChunkTree[] {
  const files = readdirSync(join(root, 'app'), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const filesByMode = Map.groupBy(files, (file) => lstatSync(file).mode & 0o7777)
  const trees = [...filesByMode].map(([mode, filesOfMode]) => [
    ...packTarTree(
      filesOfMode.map((file) => ({ path: relative(join(root, 'app'), file), pieces: [readFileSync(file)] })),
      { directory: 0o755, file: mode },
      (path, kind) => join('app', path, kind === 'directory' ? '/' : ''),
    ),
  ])
  return [...trees.flat(), getTarEndMarker()]
}

describeIfImageAvailable(['umoci', 'docker-registry', 'skopeo'])('the container image', () => {
  let directory: string
  let server: RealRegistry
  let registry: RegistryClient
  let pusher: ImagePusher

  beforeAll(async () => {
    directory = createImageTestDirectory()
    server = await startRealRegistry()
    const egress = allowLoopbackRegistries(server.host)
    registry = new HttpRegistryClient({ clock: systemClock, egress })
    pusher = new RegistryImagePusher({ clock: systemClock, egress, credentials: [] })
  })
  afterAll(async () => {
    await registry?.close()
    await pusher?.close()
    await server?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  /** Pushes the image without its last layer, the App. */
  async function pushBase(): Promise<string> {
    const { blobPath, config, layers: allLayers } = readImageLayout()
    const baseConfig = encodeOciJsonDocument(
      { ...config, rootfs: { type: 'layers', diff_ids: config.rootfs.diff_ids.slice(0, -1) }, history: [] },
      configType,
    )
    const layers = allLayers.slice(0, -1).map(({ mediaType, digest, size }) => ({ mediaType, digest, size }))
    const baseManifest = encodeOciJsonDocument(
      createImageManifest('oci', baseConfig, layers, {}),
      manifestType,
    )
    await pusher.push({
      host: server.host,
      repository: 'base',
      blobs: [
        { ...baseConfig, read: async () => baseConfig.bytes },
        ...layers.map((layer) => ({ ...layer, read: () => readFile(blobPath(layer.digest)) })),
      ],
      manifests: [baseManifest],
      tags: ['1'],
    })
    return `${server.host}/base:1`
  }

  /** Adds the App's files to the base. Returns the name of the image. */
  async function pushAssembledImage(base: string, archive: readonly ByteChunkTree[]): Promise<string> {
    const { images, reference } = await fetchMultiPlatformImage(registry, base, 'base')
    const [image] = images
    if (!image) throw new Error('the base has no image')
    const bytes = await gzipByteChunks(archive)
    const layer = { mediaType: layerTypes.gzip, digest: computeSha256Digest(bytes), size: bytes.length }
    console.log(`assembled layer: ${(layer.size / 1_000_000).toFixed(1)} MB`)
    const diffId = computeSha256Digest(joinByteChunks(archive))
    const config = encodeOciJsonDocument(
      { ...image.config, rootfs: { type: 'layers', diff_ids: [...image.diffIds, diffId] } },
      configType,
    )
    const below = image.manifest.layers
    const manifest = encodeOciJsonDocument(
      createImageManifest('oci', config, [...below, layer], {}),
      manifestType,
    )
    await pusher.push({
      host: server.host,
      repository: 'assembled',
      blobs: [
        { ...config, read: async () => config.bytes },
        { ...layer, read: async () => bytes },
        ...below.map((descriptor) => ({
          ...descriptor,
          mountFrom: reference.repository,
          read: () => registry.fetchBlob(reference, descriptor),
        })),
      ],
      manifests: [manifest],
      tags: ['1'],
    })
    return `${server.host}/assembled:1`
  }

  test('has the same files and configuration if catalog-bot assembles it', async () => {
    const builtImage = readImageLayout()
    const builtRoot = join(unpackImage(builtImage.path, join(directory, 'built')), 'rootfs')
    const name = await pushAssembledImage(await pushBase(), packAppLayer(builtRoot))
    const layout = join(directory, 'layout')
    const source = ['--src-tls-verify=false', `docker://${name}`]
    execFileSync('skopeo', ['copy', '--quiet', '--insecure-policy', ...source, `oci:${layout}:latest`])
    const files = listDirectoryTree(join(unpackImage(layout, join(directory, 'assembled')), 'rootfs'))
    expect(files).toEqual(listDirectoryTree(builtRoot))
    expect(files.some((line) => line.startsWith('app/bin/catalog-bot.cjs 100755 0:0 '))).toBe(true)
    expect(readImageLayout(layout).config.config).toEqual(builtImage.config.config)
    console.log(`assembled: the same ${files.length} files`)
  }, 300_000)
})
