// Replaces the layers below a published catalog's layer, which remains byte for byte the same.
import type { AbortSignalLike } from '../../ports/registry.ts'
import type { Descriptor } from '../registry/manifest.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { RegistryError } from '../registry/registry-error.ts'
import { assembleImageOnBase, toImageBuildSettings } from './assemble-image.ts'
import {
  fetchMultiPlatformImage,
  rejectBaseImageWithCatalog,
  type OciDocument,
  type FetchedImage,
  type FetchedMultiPlatformImage,
} from './base-image.ts'
import type { BuiltCatalogImage, ImageRebaseRequest } from './catalog-publisher.ts'
import {
  baseImageDigestAnnotation,
  baseImageNameAnnotation,
  catalogDirectoryLabel,
  mediaTypesByImageFormat,
  imageHistoryCreatedBy,
  type LayerCompression,
  type ImageFormat,
} from './image-documents.ts'
import { ImageError } from './image-error.ts'

/** `published` reads the image, `registry` both bases. */
export async function rebaseCatalogImage(
  published: RegistryClient,
  registry: RegistryClient,
  order: ImageRebaseRequest,
  signal?: AbortSignalLike,
): Promise<BuiltCatalogImage> {
  const [image, base] = await Promise.all([
    fetchMultiPlatformImage(published, order.image, 'not-a-catalog', undefined, signal),
    fetchMultiPlatformImage(registry, order.base, 'base', order.platforms, signal),
  ])
  rejectBaseImageWithCatalog(base)
  const [first] = image.images
  if (!first || first.labels[catalogDirectoryLabel] !== '/configs')
    throw createRebaseError(order, 'it is not a catalog image in the format of `catalog-bot build`')
  const diffId = first.diffIds.at(-1) ?? ''
  const descriptor = first.manifest.layers.at(-1)
  if (!descriptor || image.images.some(({ diffIds }) => diffIds.at(-1) !== diffId))
    throw createRebaseError(order, 'its platforms have different catalogs')
  if (first.diffIds.length === 1) throw createRebaseError(order, 'it has no base image')
  // The history identifies catalog-bot's layer. For other images, the code compares the base that they declare.
  const isOurs = image.images.every(isBuiltByCatalogBot)
  const old =
    order.labels && isOurs ? undefined : await fetchRecordedBaseImage(registry, order, image, first, signal)
  const settings = toImageBuildSettings({
    ...detectLayerFormat(descriptor, order),
    cache: isImageBuiltWithOpmCache(first),
    labels: order.labels ?? getLabelsNotFromBaseImage(first, old),
    annotations: order.annotations ?? getAnnotationsWithoutBaseImage(image),
    created: String(first.config['created']),
  })
  const { digest, size } = descriptor
  const layer = {
    descriptor,
    summary: { digest, size, diffId, uncompressed: 0 },
    read: () => published.fetchBlob(image.reference, descriptor),
  }
  return assembleImageOnBase(base, registry, layer, settings)
}

function isBuiltByCatalogBot({ config }: FetchedImage): boolean {
  const history = (config['history'] ?? []) as readonly OciDocument[]
  return history.at(-1)?.['created_by'] === imageHistoryCreatedBy
}

function detectLayerFormat(
  layer: Descriptor,
  order: ImageRebaseRequest,
): { format: ImageFormat; compression: LayerCompression } {
  for (const format of ['oci', 'docker'] as const)
    for (const compression of ['gzip', 'none'] as const)
      if (mediaTypesByImageFormat[format].layers[compression] === layer.mediaType)
        return { format, compression }
  throw createRebaseError(order, `the media type ${layer.mediaType} of its top layer is not supported`)
}

function isImageBuiltWithOpmCache({ config }: FetchedImage): boolean {
  const { Cmd: command } = (config['config'] ?? {}) as { Cmd?: readonly string[] }
  return command?.includes('--cache-dir=/tmp/cache') ?? false
}

function getAnnotationsWithoutBaseImage({
  top,
}: FetchedMultiPlatformImage): Readonly<Record<string, string>> {
  const {
    [baseImageNameAnnotation]: _,
    [baseImageDigestAnnotation]: __,
    ...own
  } = (top['annotations'] ?? {}) as Record<string, string>
  return own
}

/** Labels of the image that its old base does not have. */
function getLabelsNotFromBaseImage(
  first: FetchedImage,
  old: FetchedImage | undefined,
): Readonly<Record<string, string>> {
  const own = Object.entries(first.labels).filter(
    ([label, value]) => label !== catalogDirectoryLabel && old?.labels[label] !== value,
  )
  return Object.fromEntries(own)
}

/** The recorded base, verified to be everything below the top layer. */
async function fetchRecordedBaseImage(
  registry: RegistryClient,
  order: ImageRebaseRequest,
  { top }: FetchedMultiPlatformImage,
  first: FetchedImage,
  signal: AbortSignalLike | undefined,
): Promise<FetchedImage> {
  const annotations = (top['annotations'] ?? {}) as Readonly<Record<string, string>>
  const name = annotations[baseImageNameAnnotation]
  const digest = annotations[baseImageDigestAnnotation]
  if (name === undefined || digest === undefined)
    throw createRebaseError(order, 'it does not declare its base image; build the image again instead')
  let old: FetchedMultiPlatformImage
  try {
    old = await fetchMultiPlatformImage(
      registry,
      `${stripImageTag(name)}@${digest}`,
      'base',
      undefined,
      signal,
    )
  } catch (cause) {
    if (cause instanceof RegistryError && cause.retryable) throw cause
    throw createRebaseError(
      order,
      `its old base image ${name} no longer exists; build the image again instead`,
      cause,
    )
  }
  const under = old.images.find(({ platform }) => platform === first.platform)
  const isPrefix = under?.diffIds.every((diffId, at) => first.diffIds[at] === diffId) ?? false
  if (!under || !isPrefix || under.diffIds.length + 1 !== first.diffIds.length)
    throw createRebaseError(order, `it was not built on ${name}, the base image that it declares`)
  return under
}

function stripImageTag(name: string): string {
  const slash = name.lastIndexOf('/')
  const colon = name.indexOf(':', slash)
  return colon < 0 ? name : name.slice(0, colon)
}

function createRebaseError({ image }: ImageRebaseRequest, why: string, cause?: unknown): ImageError {
  return new ImageError('not-a-catalog', `cannot rebase ${image}: ${why}`, cause)
}
