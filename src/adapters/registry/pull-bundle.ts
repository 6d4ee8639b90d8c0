// Pulls a bundle or catalog image by digest and unpacks it in a separate process within limits. Writes nothing to disk,
// runs nothing from the image, and requests none of its URLs.
import pLimit from 'p-limit'
import { parseImageReference, type ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { detectBundleFormat, type BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import type { AbortSignalLike } from '../../ports/registry.ts'
import { catalogDirectoryLabel, parseImageConfig, type ImageIndexEntry, type Manifest } from './manifest.ts'
import type { RegistryClient } from './registry-client.ts'
import { RegistryError, toImageLookupResult } from './registry-error.ts'
import { createRejectedImageError } from './unpack/tar-header.ts'
import { defaultUnpackLimits, type CompressedLayer, type UnpackLimits } from './unpack/unpack-layers.ts'
import { runUnpackProcess } from './unpack/unpack-process-pool.ts'
import type { BundleImageLookupResult } from '../../checks/lookups.ts'

export interface PulledBundle {
  /** The digest of the referenced manifest, which may be an index. */
  readonly digest: string
  readonly labels: Readonly<Record<string, string>>
  /** Files below `manifests/`, `metadata/`, and `tests/`. For charts, list their location in `directories`. */
  readonly files: BundleFiles
}

export interface ImagePullLimits {
  readonly layers: number
  /** Compressed bytes of all layers. */
  readonly compressed: number
  /** Milliseconds for unpacking. */
  readonly unpackTime: number
  readonly unpack: UnpackLimits
}

/** The default of Docker and containerd. */
const maxConcurrentLayerDownloads = 3

const bytesPerMebibyte = 1024 * 1024
/** Applies before the labels identify the kind of image. */
const maxImageConfigBytes = 4 * bytesPerMebibyte

// The largest bundles of public catalogs have three layers and 2 MiB.
export const defaultImagePullLimits: ImagePullLimits = {
  layers: 40,
  compressed: 100 * bytesPerMebibyte,
  unpackTime: 30_000,
  unpack: defaultUnpackLimits,
}

/** Catalog images contain opm, its cache, and hundreds of megabytes. Only for users who pull their own images. */
const catalogImagePullLimits: ImagePullLimits = {
  ...defaultImagePullLimits,
  compressed: 1024 * bytesPerMebibyte,
  unpackTime: 300_000,
  unpack: {
    ...defaultUnpackLimits,
    entries: 200_000,
    file: 512 * bytesPerMebibyte,
    contentBytes: 1024 * bytesPerMebibyte,
    layer: 2048 * bytesPerMebibyte,
    image: 4096 * bytesPerMebibyte,
  },
}

// opm reads these regardless of the labels.
const bundleDirectoryNames = ['manifests', 'metadata', 'tests']

const bundleContent: ImageFileSelection = {
  directories: bundleDirectoryNames,
  limits: defaultImagePullLimits,
}

/** Rejects with a RegistryError; `unsupported` and `digest-mismatch` concern the image itself. */
export async function pullBundle(registry: RegistryClient, text: string): Promise<PulledBundle> {
  const pulled = await pullImageFiles(registry, text, bundleContent)
  if (detectBundleFormat(pulled.files) !== undefined) return pulled
  // A chart can be anywhere in the image, so all of its files are needed. Bundles in other formats are never pulled twice.
  return pullImageFiles(registry, text, { ...bundleContent, directories: [''] })
}

/** Pulls an image that may be a bundle (but not a chart) or a catalog, depending on its labels. */
export function pullBundleOrCatalog(registry: RegistryClient, text: string): Promise<PulledBundle> {
  return pullImageFiles(registry, text, (labels) => {
    const directory = getCatalogDirectoryFromLabels(labels)
    return directory === undefined
      ? bundleContent
      : { directories: [directory], limits: catalogImagePullLimits }
  })
}

/** The files of a catalog image's catalog and cache directories. */
export async function pullCatalogFiles(
  registry: RegistryClient,
  text: string,
  directories: readonly string[],
): Promise<BundleFiles> {
  const content = { directories, limits: catalogImagePullLimits }
  return (await pullImageFiles(registry, text, content)).files
}

/** The directory that the label names, without surrounding slashes; undefined if the image is not a catalog. */
export function getCatalogDirectoryFromLabels(labels: PulledBundle['labels']): string | undefined {
  const named = labels[catalogDirectoryLabel]
  if (named === undefined) return undefined
  const directory = named.split('/').filter((part) => part !== '' && part !== '.')
  if (directory.length === 0 || directory.includes('..'))
    throw createRejectedImageError(`the label ${catalogDirectoryLabel} does not name a directory`)
  return directory.join('/')
}

interface ImageFileSelection {
  readonly directories: readonly string[]
  readonly limits: ImagePullLimits
}

type ImageFileSelector = (labels: PulledBundle['labels']) => ImageFileSelection

async function pullImageFiles(
  registry: RegistryClient,
  text: string,
  content: ImageFileSelection | ImageFileSelector,
): Promise<PulledBundle> {
  const { digest, labels, layers, selection } = await pullImageLayers(registry, text, content)
  const files = await unpackLayersInWorkerProcess(layers, selection.directories, selection.limits)
  return { digest, labels, files }
}

async function pullImageLayers(
  registry: RegistryClient,
  text: string,
  content: ImageFileSelection | ImageFileSelector,
  signal?: AbortSignalLike,
) {
  const { reference, reason } = parseImageReference(text)
  if (!reference) throw new RegistryError('malformed', reason)
  const { digest, image } = await fetchImageManifest(registry, reference, signal)
  const { layers, config } = image
  if (config.size > maxImageConfigBytes)
    throw createRejectedImageError(`the config is larger than ${maxImageConfigBytes} bytes`)
  const readConfig = memoizeOnce(async () =>
    parseImageConfig(await registry.fetchBlob(reference, config, signal)),
  )
  const selection = typeof content === 'function' ? content((await readConfig()).labels) : content
  const { limits } = selection
  if (layers.length > limits.layers)
    throw createRejectedImageError(`the manifest lists more than ${limits.layers} layers`)
  const compressed = layers.reduce((sum, { size }) => sum + size, 0)
  if (compressed > limits.compressed)
    throw createRejectedImageError(`the layers total more than ${limits.compressed} bytes`)
  if (layers.some(({ mediaType }) => /nondistributable|\.foreign\./.test(mediaType)))
    throw createRejectedImageError('some layers are stored outside the registry')
  const [{ labels, diffIds }, packed] = await Promise.all([
    readConfig(),
    pLimit(maxConcurrentLayerDownloads).map(layers, (layer) => registry.fetchBlob(reference, layer, signal)),
  ])
  if (diffIds.length !== layers.length)
    throw createRejectedImageError('the config and the manifest list different layers')
  return {
    digest,
    labels,
    layers: packed.map((bytes, index) => ({ bytes, diffId: diffIds[index] ?? '' })),
    selection,
  }
}

export async function unpackLayersInWorkerProcess(
  layers: readonly CompressedLayer[],
  directories: readonly string[],
  limits: Pick<ImagePullLimits, 'unpackTime' | 'unpack'> = defaultImagePullLimits,
): Promise<BundleFiles> {
  const result = await runUnpackProcess({ layers, directories, limits: limits.unpack }, limits.unpackTime)
  if (!('files' in result)) throw new Error('unpacking returned no files')
  return result.files
}

type ImageManifest = Extract<Manifest, { kind: 'image' }>

async function fetchImageManifest(
  registry: RegistryClient,
  reference: ImageReference,
  signal: AbortSignalLike | undefined,
): Promise<{ readonly digest: string; readonly image: ImageManifest }> {
  const top = await registry.fetchManifest(reference, signal)
  let current = top
  // An index within an index is legal; deeper nesting is abuse.
  for (let depth = 0; current.manifest.kind === 'index'; depth += 1) {
    if (depth === 2) throw createRejectedImageError('the indexes are nested more than two levels deep')
    const { digest } = choosePlatformImage(current.manifest.manifests)
    current = await registry.fetchManifest({ ...reference, digest }, signal)
  }
  return { digest: top.digest, image: current.manifest }
}

// Bundles are the same for all platforms, so prefer linux/amd64. Ambiguous choices are rejected because readers
// disagree (first, last, without variant, or by config).
function choosePlatformImage(manifests: readonly ImageIndexEntry[]): ImageIndexEntry {
  const images = manifests.filter(({ platform }) => platform?.os !== 'unknown')
  const matching = images.filter(isLinuxAmd64)
  if (new Set(matching.map(({ digest }) => digest)).size > 1)
    throw createRejectedImageError('the index has several candidates for linux/amd64')
  const chosen = matching[0] ?? images[0]
  if (!chosen) throw createRejectedImageError('the index lists no images')
  return chosen
}

/** Matches as Go's clients do: any case, old names, and entries without a platform. */
function isLinuxAmd64({ platform }: ImageIndexEntry): boolean {
  if (platform === undefined) return true
  const [os, architecture] = [platform.os.toLowerCase(), platform.architecture.toLowerCase()]
  return (os === 'linux' || os === '') && ['amd64', 'x86_64', 'x86-64', ''].includes(architecture)
}

/** Rejects only for internal errors. `unpackTime` is in milliseconds. */
export async function readBundle(
  client: RegistryClient,
  text: string,
  signal?: AbortSignalLike,
  unpackTime = defaultImagePullLimits.unpackTime,
): Promise<BundleImageLookupResult> {
  try {
    const { digest, labels, layers } = await pullImageLayers(client, text, bundleContent, signal)
    const order = { layers, labels, directories: bundleDirectoryNames, limits: defaultUnpackLimits }
    // Also parses in the separate process, because the YAML is as untrusted as the archive.
    const result = await runUnpackProcess(order, unpackTime)
    if (!('reading' in result)) throw new Error('reading the bundle returned no result')
    return { kind: 'bundle', digest, ...result.reading }
  } catch (error) {
    const answer = toImageLookupResult(error)
    if (answer.kind === 'ok') throw error
    return answer
  }
}
