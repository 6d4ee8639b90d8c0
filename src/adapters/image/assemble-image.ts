import { formatPlatform, type Descriptor } from '../registry/manifest.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import type { OciJsonDocument, FetchedMultiPlatformImage, PlatformImage } from './base-image.ts'
import {
  type BuiltCatalogImage,
  type CatalogImageSpec,
  type CatalogLayerSummary,
  ImageError,
} from './catalog-publisher.ts'
import {
  baseImageDigestAnnotation,
  baseImageNameAnnotation,
  encodeOciJsonDocument,
  createCatalogImageConfig,
  computeImageContentDigest,
  mediaTypesByImageFormat,
  createImageIndex,
  createImageManifest,
  convertLayerMediaType,
  createScratchImageConfig,
  type EncodedOciJsonDocument,
  type LayerCompression,
  type ImageFormat,
} from './image-documents.ts'
import type { BlobToPush, ManifestToPush } from './open-pusher.ts'

/** The layer to push, or the layer that the target's repository already contains. */
export interface CatalogLayer {
  readonly descriptor: Descriptor
  readonly summary: CatalogLayerSummary
  readonly read: () => Promise<Uint8Array>
}

export interface ImageBuildSettings {
  readonly hasCache: boolean
  readonly compression: LayerCompression
  readonly format: ImageFormat
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly created: string
}

export function toImageBuildSettings(order: Omit<CatalogImageSpec, 'files' | 'base'>): ImageBuildSettings {
  const { cache = true, compression = 'gzip', format = 'oci', labels = {}, annotations = {} } = order
  if (compression === 'none' && format === 'docker')
    throw new ImageError(
      'order',
      'the docker format does not support uncompressed layers; use the oci format',
    )
  return {
    hasCache: cache,
    compression,
    format,
    labels,
    annotations,
    created: order.created ?? '1970-01-01T00:00:00Z',
  }
}

/** The platforms that OLM itself is published for. */
export const olmImagePlatforms = ['linux/amd64', 'linux/arm64', 'linux/ppc64le', 'linux/s390x']

interface AssembledPlatformImage extends PlatformImage {
  readonly config: EncodedOciJsonDocument
}

/** An image with a base. The pusher mounts blobs from the repository in the base's `name`. */
export function assembleImageOnBaseImage(
  base: FetchedMultiPlatformImage,
  registry: RegistryClient,
  layer: CatalogLayer,
  settings: ImageBuildSettings,
): BuiltCatalogImage {
  const { format } = settings
  const baseLayers = new Map<string, Descriptor>()
  const parts = base.images.map((image): AssembledPlatformImage => {
    const config = encodeOciJsonDocument(
      createCatalogImageConfig(image, { ...settings, diffId: layer.summary.diffId }),
      mediaTypesByImageFormat[format].config,
    )
    const below = image.manifest.layers.map((one) => convertLayerMediaType(format, one))
    for (const one of below) baseLayers.set(one.digest, one)
    const annotations = { ...settings.annotations, ...createBaseImageAnnotations(base, image.digest) }
    return {
      indexPlatform: image.indexPlatform,
      platform: image.platform,
      config,
      manifest: createImageManifest(format, config, [...below, toLayerDescriptor(layer)], annotations),
    }
  })
  const annotations = { ...settings.annotations, ...createBaseImageAnnotations(base, base.digest) }
  const lower = [...baseLayers.values()].map((descriptor): BlobToPush => ({
    digest: descriptor.digest,
    size: descriptor.size,
    read: () => registry.fetchBlob(base.reference, descriptor),
    mountFrom: base.reference.repository,
  }))
  return {
    ...assembleCatalogImage(parts, base.isIndex, layer, lower, settings, annotations),
    base: { name: base.name, digest: base.digest },
  }
}

/** An image with only the catalog, once for each platform because clusters pull by platform. */
export function assembleImageFromScratch(
  platforms: readonly string[],
  layer: CatalogLayer,
  settings: ImageBuildSettings,
): BuiltCatalogImage {
  const parts = platforms.map((name): AssembledPlatformImage => {
    const [os, architecture, variant] = name.split('/')
    if (os !== 'linux' || architecture === undefined || architecture === '')
      throw new ImageError('order', `"${name}" is not a platform; use a name such as linux/amd64`)
    const config = encodeOciJsonDocument(
      createScratchImageConfig(name, { ...settings, diffId: layer.summary.diffId }),
      mediaTypesByImageFormat[settings.format].config,
    )
    return {
      indexPlatform: { architecture, os, ...(variant !== undefined && { variant }) },
      platform: formatPlatform({ os, architecture, ...(variant !== undefined && { variant }) }),
      config,
      manifest: createImageManifest(
        settings.format,
        config,
        [toLayerDescriptor(layer)],
        settings.annotations,
      ),
    }
  })
  return assembleCatalogImage(parts, parts.length > 1, layer, [], settings, settings.annotations)
}

function assembleCatalogImage(
  parts: readonly AssembledPlatformImage[],
  isIndex: boolean,
  layer: CatalogLayer,
  lower: readonly BlobToPush[],
  { format }: ImageBuildSettings,
  annotations: Readonly<Record<string, string>>,
): BuiltCatalogImage {
  const images = parts.map(({ manifest }) =>
    encodeOciJsonDocument(manifest, mediaTypesByImageFormat[format].manifest),
  )
  const index = encodeOciJsonDocument(
    createImageIndex(
      format,
      parts.map(({ indexPlatform: platform = {} }, at) => ({
        platform,
        manifest: images[at] as EncodedOciJsonDocument,
      })),
      annotations,
    ),
    mediaTypesByImageFormat[format].index,
  )
  const tops = isIndex ? [...images, index] : images
  const top = tops.at(-1)
  if (!top) throw new ImageError('order', 'specify at least one platform')
  const configs = parts.map(({ config }): BlobToPush => ({ ...config, read: async () => config.bytes }))
  const { digest, size } = layer.descriptor
  return {
    digest: top.digest,
    mediaType: top.mediaType,
    contentDigest: computeImageContentDigest({ isIndex, images: parts }),
    platforms: parts.map(({ platform }) => platform),
    layer: layer.summary,
    manifests: tops.map(({ mediaType, bytes }) => ({ mediaType, bytes })) as [
      ...ManifestToPush[],
      ManifestToPush,
    ],
    blobs: [{ digest, size, read: layer.read }, ...configs, ...lower],
  }
}

function toLayerDescriptor({ descriptor: { mediaType, digest, size } }: CatalogLayer): OciJsonDocument {
  return { mediaType, digest, size }
}

function createBaseImageAnnotations(
  base: FetchedMultiPlatformImage,
  digest: string,
): Readonly<Record<string, string>> {
  return { [baseImageNameAnnotation]: base.name, [baseImageDigestAnnotation]: digest }
}
