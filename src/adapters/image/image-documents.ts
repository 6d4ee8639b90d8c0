// Configs, manifests, and the index from the base's documents. Pure and deterministic. Keeps unknown fields.
import {
  catalogDirectoryLabel,
  computeSha256Digest,
  manifestMediaTypes,
  type Descriptor,
} from '../registry/manifest.ts'
import type { OciJsonDocument, FetchedPlatformImage, PlatformImage } from './base-image.ts'
import { ImageError } from './catalog-publisher.ts'

export const baseImageNameAnnotation = 'org.opencontainers.image.base.name'
export const baseImageDigestAnnotation = 'org.opencontainers.image.base.digest'

/** Identifies catalog-bot's layer in the config's history. */
export const imageHistoryCreatedBy = 'catalog-bot build'

export type ImageFormat = 'oci' | 'docker'
export type LayerCompression = 'gzip' | 'none'

interface ImageFormatMediaTypes {
  readonly index: string
  readonly manifest: string
  readonly config: string
  readonly layers: Readonly<Record<LayerCompression, string>>
}

export const mediaTypesByImageFormat: Readonly<Record<ImageFormat, ImageFormatMediaTypes>> = {
  oci: {
    index: manifestMediaTypes.ociIndex,
    manifest: manifestMediaTypes.ociManifest,
    config: 'application/vnd.oci.image.config.v1+json',
    layers: {
      gzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
      none: 'application/vnd.oci.image.layer.v1.tar',
    },
  },
  docker: {
    index: manifestMediaTypes.dockerList,
    manifest: manifestMediaTypes.dockerManifest,
    config: 'application/vnd.docker.container.image.v1+json',
    layers: {
      gzip: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
      // Undocumented and rarely supported.
      none: 'application/vnd.docker.image.rootfs.diff.tar',
    },
  },
}

export interface ImageConfigOptions {
  readonly diffId: string
  readonly hasCache: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly created: string
}

/** The same config as with the Dockerfile of `opm generate dockerfile`. */
export function createCatalogImageConfig(
  base: Pick<FetchedPlatformImage, 'config' | 'diffIds'>,
  order: ImageConfigOptions,
): OciJsonDocument {
  const { config } = base
  const inner = (config['config'] ?? {}) as OciJsonDocument
  const rootfs = (config['rootfs'] ?? {}) as OciJsonDocument
  return {
    ...config,
    created: order.created,
    config: {
      ...inner,
      Entrypoint: ['/bin/opm'],
      Cmd: ['serve', '/configs', ...(order.hasCache ? ['--cache-dir=/tmp/cache'] : [])],
      Labels: mergeImageLabels((inner['Labels'] ?? {}) as Record<string, string>, order.labels),
    },
    rootfs: { ...rootfs, type: 'layers', diff_ids: [...base.diffIds, order.diffId] },
    ...appendImageConfigHistory(config, base.diffIds.length, order.created),
  }
}

/** The config of a catalog-only image: OLM extracts the catalog and serves it with its own opm. */
export function createScratchImageConfig(platform: string, order: ImageConfigOptions): OciJsonDocument {
  const [os, architecture, variant] = platform.split('/')
  return {
    created: order.created,
    architecture,
    os,
    ...(variant !== undefined && { variant }),
    config: { Labels: mergeImageLabels({}, order.labels) },
    rootfs: { type: 'layers', diff_ids: [order.diffId] },
    ...appendImageConfigHistory({}, 0, order.created),
  }
}

function mergeImageLabels(
  base: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): OciJsonDocument {
  return sortRecordKeys({ ...base, ...own, [catalogDirectoryLabel]: '/configs' })
}

/** A history must cover all layers, so the image has no history if the base has none. */
function appendImageConfigHistory(
  config: OciJsonDocument,
  layers: number,
  created: string,
): { history?: readonly OciJsonDocument[] } {
  const before = (config['history'] ?? []) as readonly OciJsonDocument[]
  if (before.filter((entry) => entry['empty_layer'] !== true).length !== layers) return {}
  return { history: [...before, { created, created_by: imageHistoryCreatedBy }] }
}

export interface EncodedOciJsonDocument extends Descriptor {
  readonly bytes: Uint8Array
}

export function encodeOciJsonDocument(document: OciJsonDocument, mediaType: string): EncodedOciJsonDocument {
  const bytes = new TextEncoder().encode(JSON.stringify(document))
  return { mediaType, digest: computeSha256Digest(bytes), size: bytes.length, bytes }
}

export function createImageManifest(
  format: ImageFormat,
  config: Descriptor,
  layers: readonly OciJsonDocument[],
  annotations: Readonly<Record<string, string>>,
): OciJsonDocument {
  const { mediaType, digest, size } = config
  return {
    schemaVersion: 2,
    mediaType: mediaTypesByImageFormat[format].manifest,
    config: { mediaType, digest, size },
    layers,
    ...createAnnotationsField(format, annotations),
  }
}

export function createImageIndex(
  format: ImageFormat,
  images: readonly { readonly manifest: Descriptor; readonly platform: OciJsonDocument }[],
  annotations: Readonly<Record<string, string>>,
): OciJsonDocument {
  return {
    schemaVersion: 2,
    mediaType: mediaTypesByImageFormat[format].index,
    manifests: images.map(({ manifest: { mediaType, digest, size }, platform }) => ({
      mediaType,
      digest,
      size,
      platform,
    })),
    ...createAnnotationsField(format, annotations),
  }
}

function createAnnotationsField(
  format: ImageFormat,
  annotations: Readonly<Record<string, string>>,
): OciJsonDocument {
  if (format === 'docker' || Object.keys(annotations).length === 0) return {}
  return { annotations: sortRecordKeys(annotations) }
}

function sortRecordKeys(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Maps a layer's media type to another format. */
export function convertLayerMediaType(
  format: ImageFormat,
  layer: OciJsonDocument & Descriptor,
): OciJsonDocument & Descriptor {
  const kind = equivalentLayerMediaTypes.find((names) => Object.values(names).includes(layer.mediaType))
  const mediaType = kind?.[format]
  if (mediaType === undefined)
    throw new ImageError(
      'base',
      `the ${format} format does not support ${layer.mediaType}, the media type of a layer in the base image`,
    )
  return { ...layer, mediaType }
}

const equivalentLayerMediaTypes: readonly { readonly oci: string; readonly docker?: string }[] = [
  { oci: mediaTypesByImageFormat.oci.layers.gzip, docker: mediaTypesByImageFormat.docker.layers.gzip },
  { oci: mediaTypesByImageFormat.oci.layers.none, docker: mediaTypesByImageFormat.docker.layers.none },
  { oci: 'application/vnd.oci.image.layer.v1.tar+zstd' },
]

/**
 * A digest of every platform's config, which has the uncompressed layers' digests. Ignores compression and annotations.
 * `images` are in the order of the index. Equal for an image that was built and one that was fetched.
 */
export function computeImageContentDigest({
  isIndex,
  images,
}: {
  readonly isIndex: boolean
  readonly images: readonly Pick<PlatformImage, 'indexPlatform' | 'manifest'>[]
}): string {
  const lines = images.map(({ indexPlatform, manifest }) => {
    const config = manifest['config'] as Descriptor
    const layers = manifest['layers'] as readonly Descriptor[]
    const platformEntries = Object.entries(indexPlatform ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
    return JSON.stringify([
      platformEntries,
      config.mediaType,
      config.digest,
      layers.map(({ mediaType }) => mediaType),
    ])
  })
  return computeSha256Digest(new TextEncoder().encode([isIndex ? 'index' : 'image', ...lines].join('\n')))
}
