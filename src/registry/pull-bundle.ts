// Pulls a bundle or catalog image by digest and unpacks it in a separate process within limits. Writes nothing to disk,
// runs nothing of the image, and requests no URL that it names.
import { parseImageReference, type ImageReference } from '../go/reference/image-reference.ts'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import type { AbortSignalLike } from '../ports/registry.ts'
import { parseConfig, type IndexEntry, type Manifest } from './manifest.ts'
import type { RegistryClient } from './registry-client.ts'
import type { WholeReading } from './unpack/read-bundle-files.ts'
import { RegistryError } from './registry-error.ts'
import { defaultUnpackLimits, type PackedLayer, type UnpackLimits } from './unpack/unpack-layers.ts'
import { inUnpackProcess } from './unpack/unpack-processes.ts'

export interface PulledBundle {
  /** Of what the reference names: an index if it is one. */
  readonly digest: string
  readonly labels: Readonly<Record<string, string>>
  /** Files below `manifests/`, `metadata/` and `tests/`. Charts are elsewhere and are listed with `directories`. */
  readonly files: BundleFiles
}

export interface PullLimits {
  readonly layers: number
  /** Compressed bytes of all layers. */
  readonly compressed: number
  /** Milliseconds for unpacking. */
  readonly unpackTime: number
  readonly unpack: UnpackLimits
}

const mebibyte = 1024 * 1024
/** Applies before the labels say what the image is. */
const largestConfig = 4 * mebibyte

// The largest bundles of public catalogs have three layers and 2 MiB.
export const defaultPullLimits: PullLimits = {
  layers: 40,
  compressed: 100 * mebibyte,
  unpackTime: 30_000,
  unpack: defaultUnpackLimits,
}

/**
 * Catalog images carry opm and its cache beside hundreds of megabytes of catalog. Only for users who pull their own.
 */
const catalogPullLimits: PullLimits = {
  ...defaultPullLimits,
  compressed: 1024 * mebibyte,
  unpackTime: 300_000,
  unpack: {
    ...defaultUnpackLimits,
    entries: 200_000,
    file: 512 * mebibyte,
    kept: 1024 * mebibyte,
    layer: 2048 * mebibyte,
    image: 4096 * mebibyte,
  },
}

// opm reads these regardless of the labels.
const bundleDirectories = ['manifests', 'metadata', 'tests']

/** The label with the catalog's directory. */
const catalogLabel = 'operators.operatorframework.io.index.configs.v1'

export interface PullOptions {
  readonly limits?: Partial<PullLimits>
  readonly directories?: readonly string[]
  readonly signal?: AbortSignalLike
}

/** Rejects with a RegistryError; `unsupported` and `digest-mismatch` concern the image itself. */
export function pullBundle(
  registry: RegistryClient,
  text: string,
  options: PullOptions = {},
): Promise<PulledBundle> {
  const content = {
    directories: options.directories ?? bundleDirectories,
    limits: { ...defaultPullLimits, ...options.limits },
  }
  return pullFiles(registry, text, () => content, options.signal)
}

/** Like pullBundle(), for an image that may be a bundle or a catalog, depending on its labels. */
export function pullBundleOrCatalog(
  registry: RegistryClient,
  text: string,
  signal?: AbortSignalLike,
): Promise<PulledBundle> {
  const content = (labels: PulledBundle['labels']) => {
    const directory = catalogDirectory(labels)
    return directory === undefined
      ? { directories: bundleDirectories, limits: defaultPullLimits }
      : { directories: [directory], limits: catalogPullLimits }
  }
  return pullFiles(registry, text, content, signal)
}

/** The files of a catalog image's catalog and cache directories. */
export async function pullCatalogFiles(
  registry: RegistryClient,
  text: string,
  directories: readonly string[],
  signal?: AbortSignalLike,
): Promise<BundleFiles> {
  const content = { directories, limits: catalogPullLimits }
  return (await pullFiles(registry, text, () => content, signal)).files
}

/** The directory that the label names, without surrounding slashes; undefined if the image is not a catalog. */
export function catalogDirectory(labels: PulledBundle['labels']): string | undefined {
  const named = labels[catalogLabel]
  if (named === undefined) return undefined
  const directory = named.split('/').filter((part) => part !== '' && part !== '.')
  if (directory.length === 0 || directory.includes('..'))
    throw refused(`its label ${catalogLabel} names no directory`)
  return directory.join('/')
}

interface WantedContent {
  readonly directories: readonly string[]
  readonly limits: PullLimits
}

async function pullFiles(
  registry: RegistryClient,
  text: string,
  contentOf: (labels: PulledBundle['labels']) => WantedContent,
  signal: AbortSignalLike | undefined,
): Promise<PulledBundle> {
  const { digest, labels, layers, wanted } = await pullLayers(registry, text, contentOf, signal)
  return { digest, labels, files: await unpackInProcess(layers, wanted.directories, wanted.limits) }
}

export async function pullReading(
  registry: RegistryClient,
  text: string,
  { limits, signal }: Pick<PullOptions, 'limits' | 'signal'> = {},
): Promise<{ readonly digest: string; readonly reading: WholeReading }> {
  const content = { directories: bundleDirectories, limits: { ...defaultPullLimits, ...limits } }
  const { digest, labels, layers, wanted } = await pullLayers(registry, text, () => content, signal)
  return { digest, reading: await readInProcess(layers, labels, wanted.directories, wanted.limits) }
}

async function pullLayers(
  registry: RegistryClient,
  text: string,
  contentOf: (labels: PulledBundle['labels']) => WantedContent,
  signal: AbortSignalLike | undefined,
): Promise<{
  readonly digest: string
  readonly labels: PulledBundle['labels']
  readonly layers: readonly PackedLayer[]
  readonly wanted: WantedContent
}> {
  const { reference, reason } = parseImageReference(text)
  if (!reference) throw new RegistryError('malformed', reason)
  const { digest, image } = await findImage(registry, reference, signal)
  const { layers, config } = image
  if (config.size > largestConfig) throw refused(`its config is larger than ${largestConfig} bytes`)
  const { labels, diffIds } = parseConfig(await registry.fetchBlob(reference, config, signal))
  const wanted = contentOf(labels)
  const { limits } = wanted
  if (layers.length > limits.layers) throw refused(`it has more than ${limits.layers} layers`)
  const compressed = layers.reduce((sum, { size }) => sum + size, 0)
  if (compressed > limits.compressed) throw refused(`its layers are larger than ${limits.compressed} bytes`)
  if (layers.some(({ mediaType }) => /nondistributable|\.foreign\./.test(mediaType)))
    throw refused('it has layers that are kept elsewhere')
  if (diffIds.length !== layers.length) throw refused('its config speaks of other layers than its manifest')
  const packed: PackedLayer[] = []
  for (const [index, layer] of layers.entries())
    packed.push({
      bytes: await registry.fetchBlob(reference, layer, signal),
      diffId: diffIds[index] ?? '',
    })
  return { digest, labels, layers: packed, wanted }
}

export async function unpackInProcess(
  layers: readonly PackedLayer[],
  directories: readonly string[],
  limits: Pick<PullLimits, 'unpackTime' | 'unpack'> = defaultPullLimits,
): Promise<BundleFiles> {
  const result = await inUnpackProcess({ layers, directories, limits: limits.unpack }, limits.unpackTime)
  if (!('files' in result)) throw new Error('unpacking gave no files')
  return result.files
}

/** Parses in the process too, because the YAML is as untrusted as the archive. */
async function readInProcess(
  layers: readonly PackedLayer[],
  labels: PulledBundle['labels'],
  directories: readonly string[],
  { unpack, unpackTime }: PullLimits,
): Promise<WholeReading> {
  const result = await inUnpackProcess({ layers, directories, limits: unpack, labels }, unpackTime)
  if (!('reading' in result)) throw new Error('reading gave no reading')
  return result.reading
}

type Image = Extract<Manifest, { kind: 'image' }>

async function findImage(
  registry: RegistryClient,
  reference: ImageReference,
  signal: AbortSignalLike | undefined,
): Promise<{ readonly digest: string; readonly image: Image }> {
  const top = await registry.fetchManifest(reference, signal)
  let found = top
  // An index within an index is legal; deeper nesting is abuse.
  for (let depth = 0; found.manifest.kind === 'index'; depth += 1) {
    if (depth === 2) throw refused('it is an index within an index within an index')
    const { digest } = chooseImage(found.manifest.manifests)
    found = await registry.fetchManifest({ ...reference, digest }, signal)
  }
  return { digest: top.digest, image: found.manifest }
}

// Bundles are the same for all platforms, so prefer linux/amd64. Ambiguous choices are rejected because readers
// disagree: first, last, without variant, or by config.
function chooseImage(manifests: readonly IndexEntry[]): IndexEntry {
  const images = manifests.filter(({ platform }) => platform?.os !== 'unknown')
  const matching = images.filter(mayBeChosen)
  if (new Set(matching.map(({ digest }) => digest)).size > 1)
    throw refused('it is an index in which several images may be the one for linux/amd64')
  const chosen = matching[0] ?? images[0]
  if (!chosen) throw refused('it is an index without images')
  return chosen
}

/** Matches as Go's clients do: any case, old names, and entries without a platform. */
function mayBeChosen({ platform }: IndexEntry): boolean {
  if (platform === undefined) return true
  const [os, architecture] = [platform.os.toLowerCase(), platform.architecture.toLowerCase()]
  return (os === 'linux' || os === '') && ['amd64', 'x86_64', 'x86-64', ''].includes(architecture)
}

function refused(reason: string, cause?: unknown): RegistryError {
  return new RegistryError('unsupported', `the image is refused: ${reason}`, { cause })
}
