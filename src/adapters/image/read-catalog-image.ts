// Reads a published catalog image and compares it with the expected files.
import { comparePathsInWalkOrder } from '@catalog-bot/fbc/go/text'
import { computeCacheDigest } from '@catalog-bot/fbc/api/build-opm-cache'
import { formatImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { getCatalogDirectoryFromLabels, pullCatalogFiles } from '../registry/pull-bundle.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import {
  fetchMultiPlatformImage,
  type OciJsonDocument,
  type FetchedMultiPlatformImage,
  rejectBaseImageContainingCatalog,
  type FetchedPlatformImage,
} from './base-image.ts'
import {
  type CatalogImageFile,
  type PublishedCatalogImage,
  type CatalogImageComparison,
  ImageError,
  type BuiltCatalogImage,
  type ImageRebaseRequest,
} from './catalog-publisher.ts'
import {
  baseImageDigestAnnotation,
  baseImageNameAnnotation,
  computeImageContentDigest,
  mediaTypesByImageFormat,
  imageHistoryCreatedBy,
  type LayerCompression,
  type ImageFormat,
} from './image-documents.ts'
import { opmCacheDirectoryInImage, catalogFileModes } from './layer/pack-layer.ts'
import { catalogDirectoryLabel, type Descriptor } from '../registry/manifest.ts'
import { RegistryError } from '../registry/registry-error.ts'
import { assembleImageOnBaseImage, toImageBuildSettings } from './assemble-image.ts'

export async function readCatalogImage(
  registry: RegistryClient,
  text: string,
): Promise<PublishedCatalogImage> {
  return (await pullCatalogImage(registry, text)).published
}

export async function verifyCatalogImage(
  registry: RegistryClient,
  text: string,
  files: readonly CatalogImageFile[],
): Promise<CatalogImageComparison> {
  const { published, tree, cache } = await pullCatalogImage(registry, text)
  const problems = [...findPlatformMismatches(tree), ...findCatalogCacheProblems(published.files, cache)]
  const differences = compareCatalogFiles(published.files, files)
  return {
    digest: published.digest,
    contentDigest: published.contentDigest,
    isSame: differences.length === 0 && problems.length === 0,
    differences: differences.slice(0, 100),
    problems,
  }
}

async function pullCatalogImage(registry: RegistryClient, text: string) {
  const tree = await fetchMultiPlatformImage(registry, text, 'not-a-catalog', undefined)
  const [first] = tree.images
  const directory = first && getCatalogDirectoryFromLabels(first.labels)
  if (!first || directory === undefined)
    throw new ImageError(
      'not-a-catalog',
      `${text} is not a catalog image because it has no label that specifies the catalog directory`,
    )
  const { reference } = tree
  const unpacked = await pullCatalogFiles(
    registry,
    formatImageReference({ host: reference.host, repository: reference.repository, digest: first.digest }),
    [directory, opmCacheDirectoryInImage],
  )
  const filesBelow = (folder: string) =>
    new Map(
      [...unpacked]
        .filter(([path]) => path.startsWith(`${folder}/`))
        .map(([path, bytes]) => [path.slice(folder.length + 1), bytes]),
    )
  const annotations = (tree.top['annotations'] ?? {}) as Readonly<Record<string, string>>
  return {
    tree,
    cache: filesBelow(opmCacheDirectoryInImage),
    published: {
      digest: tree.digest,
      mediaType: tree.mediaType,
      contentDigest: computeImageContentDigest(tree),
      platforms: tree.images.map(({ platform }) => platform),
      labels: first.labels,
      annotations,
      files: [...filesBelow(directory)]
        .map(([path, bytes]) => ({ path, bytes }))
        .sort((a, b) => comparePathsInWalkOrder(a.path, b.path)),
    },
  }
}

/** The catalog is read from one platform, so the others must have the same top layer and labels. */
function findPlatformMismatches({ images }: FetchedMultiPlatformImage): readonly string[] {
  const [first, ...others] = images
  const top = first?.diffIds.at(-1)
  return others.flatMap(({ platform, diffIds, labels }) =>
    diffIds.at(-1) === top &&
    getCatalogDirectoryFromLabels(labels) === getCatalogDirectoryFromLabels(first?.labels ?? {})
      ? []
      : [`the images for ${platform} and ${first?.platform ?? ''} have different top layers`],
  )
}

function findCatalogCacheProblems(
  files: readonly CatalogImageFile[],
  cache: ReadonlyMap<string, Uint8Array>,
): readonly string[] {
  const digestFile = cache.get('digest')
  // Without a cache, or with an unknown format, opm creates its own.
  if (!digestFile || ![...cache.keys()].some((path) => path.startsWith('cache/'))) return []
  const inCache = [...cache].filter(([path]) => path.startsWith('cache/'))
  const digest = computeCacheDigest(
    files.map(({ path, bytes }) => ({ path, pieces: [bytes] })),
    catalogFileModes,
    inCache.map(([path, bytes]) => ({ path: path.slice('cache/'.length), pieces: [bytes] })),
  )
  const recordedDigest = new TextDecoder().decode(digestFile).trim()
  return recordedDigest === digest
    ? []
    : [
        `the cache belongs to another catalog (cache digest ${recordedDigest.slice(0, 40)}, expected ${digest})`,
      ]
}

function compareCatalogFiles(
  there: readonly CatalogImageFile[],
  expectedFiles: readonly CatalogImageFile[],
): CatalogImageComparison['differences'] {
  const actualBytes = new Map(there.map(({ path, bytes }) => [path, bytes]))
  const expectedBytes = new Map(expectedFiles.map(({ path, bytes }) => [path, bytes]))
  return [...new Set([...actualBytes.keys(), ...expectedBytes.keys()])]
    .sort(comparePathsInWalkOrder)
    .flatMap((path): CatalogImageComparison['differences'] => {
      const is = actualBytes.get(path)
      const should = expectedBytes.get(path)
      if (is === undefined) return [{ path, kind: 'missing' }]
      if (should === undefined) return [{ path, kind: 'unexpected' }]
      return Buffer.compare(is, should) === 0 ? [] : [{ path, kind: 'different' }]
    })
}

/**
 * Replaces the layers below a published catalog's layer, which remains byte for byte the same. `published` reads the
 * image, `registry` both bases.
 */
export async function rebaseCatalogImage(
  published: RegistryClient,
  registry: RegistryClient,
  order: ImageRebaseRequest,
): Promise<BuiltCatalogImage> {
  const [image, base] = await Promise.all([
    fetchMultiPlatformImage(published, order.image, 'not-a-catalog', undefined),
    fetchMultiPlatformImage(registry, order.base, 'base', order.platforms),
  ])
  rejectBaseImageContainingCatalog(base)
  const [first] = image.images
  if (!first || first.labels[catalogDirectoryLabel] !== '/configs')
    throw createImageRebaseError(order, 'the image is not in the format that `catalog-bot build` produces')
  const diffId = first.diffIds.at(-1) ?? ''
  const descriptor = first.manifest.layers.at(-1)
  if (!descriptor || image.images.some(({ diffIds }) => diffIds.at(-1) !== diffId))
    throw createImageRebaseError(order, 'the image contains different catalogs for different platforms')
  if (first.diffIds.length === 1) throw createImageRebaseError(order, 'the image has no base image')
  // The history identifies catalog-bot's layer. For other images, the code compares the base that they declare.
  const isOurs = image.images.every(isBuiltByCatalogBot)
  const old =
    order.labels && isOurs ? undefined : await fetchBaseImageFromAnnotations(registry, order, image, first)
  const settings = toImageBuildSettings({
    ...detectLayerFormatAndCompression(descriptor, order),
    cache: isImageBuiltWithOpmCache(first),
    labels: order.labels ?? omitBaseImageLabels(first, old),
    annotations: order.annotations ?? omitBaseImageAnnotations(image),
    created: String(first.config['created']),
  })
  const { digest, size } = descriptor
  const layer = {
    descriptor,
    summary: { digest, size, diffId, uncompressed: 0 },
    read: () => published.fetchBlob(image.reference, descriptor),
  }
  return assembleImageOnBaseImage(base, registry, layer, settings)
}

function isBuiltByCatalogBot({ config }: FetchedPlatformImage): boolean {
  const history = (config['history'] ?? []) as readonly OciJsonDocument[]
  return history.at(-1)?.['created_by'] === imageHistoryCreatedBy
}

function detectLayerFormatAndCompression(
  layer: Descriptor,
  order: ImageRebaseRequest,
): { format: ImageFormat; compression: LayerCompression } {
  for (const format of ['oci', 'docker'] as const)
    for (const compression of ['gzip', 'none'] as const)
      if (mediaTypesByImageFormat[format].layers[compression] === layer.mediaType)
        return { format, compression }
  throw createImageRebaseError(order, `the media type of the top layer, ${layer.mediaType}, is not supported`)
}

function isImageBuiltWithOpmCache({ config }: FetchedPlatformImage): boolean {
  const { Cmd: command } = (config['config'] ?? {}) as { Cmd?: readonly string[] }
  return command?.includes('--cache-dir=/tmp/cache') ?? false
}

function omitBaseImageAnnotations({ top }: FetchedMultiPlatformImage): Readonly<Record<string, string>> {
  const {
    [baseImageNameAnnotation]: _,
    [baseImageDigestAnnotation]: __,
    ...own
  } = (top['annotations'] ?? {}) as Record<string, string>
  return own
}

/** Labels of the image that its old base does not have. */
function omitBaseImageLabels(
  first: FetchedPlatformImage,
  old: FetchedPlatformImage | undefined,
): Readonly<Record<string, string>> {
  const own = Object.entries(first.labels).filter(
    ([label, value]) => label !== catalogDirectoryLabel && old?.labels[label] !== value,
  )
  return Object.fromEntries(own)
}

/** The recorded base, verified to be everything below the top layer. */
async function fetchBaseImageFromAnnotations(
  registry: RegistryClient,
  order: ImageRebaseRequest,
  { top }: FetchedMultiPlatformImage,
  first: FetchedPlatformImage,
): Promise<FetchedPlatformImage> {
  const annotations = (top['annotations'] ?? {}) as Readonly<Record<string, string>>
  const name = annotations[baseImageNameAnnotation]
  const digest = annotations[baseImageDigestAnnotation]
  if (name === undefined || digest === undefined)
    throw createImageRebaseError(
      order,
      'the image does not declare its base image; instead of rebasing the image, build it again',
    )
  let old: FetchedMultiPlatformImage
  try {
    old = await fetchMultiPlatformImage(registry, `${stripImageTag(name)}@${digest}`, 'base', undefined)
  } catch (cause) {
    if (cause instanceof RegistryError && cause.retryable) throw cause
    throw createImageRebaseError(
      order,
      `the old base image ${name} no longer exists; instead of rebasing the image, build it again`,
      cause,
    )
  }
  const under = old.images.find(({ platform }) => platform === first.platform)
  const isPrefix = under?.diffIds.every((diffId, at) => first.diffIds[at] === diffId) ?? false
  if (!under || !isPrefix || under.diffIds.length + 1 !== first.diffIds.length)
    throw createImageRebaseError(order, `the image was not built on ${name}, the base image that it declares`)
  return under
}

function stripImageTag(name: string): string {
  const slash = name.lastIndexOf('/')
  const colon = name.indexOf(':', slash)
  return colon < 0 ? name : name.slice(0, colon)
}

function createImageRebaseError({ image }: ImageRebaseRequest, why: string, cause?: unknown): ImageError {
  return new ImageError('not-a-catalog', `cannot rebase ${image}: ${why}`, cause)
}
