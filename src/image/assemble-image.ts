import { platformText, type Descriptor } from '../registry/manifest.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import type { Document, FetchedTree } from './base-image.ts'
import type { CatalogImage, CatalogImageOrder, CatalogLayerSummary } from './catalog-publisher.ts'
import {
  baseDigestAnnotation,
  baseNameAnnotation,
  blobOf,
  catalogConfig,
  contentDigest,
  formats,
  imageIndex,
  imageManifest,
  layerIn,
  scratchConfig,
  type Blob,
  type Compression,
  type Format,
} from './image-documents.ts'
import { ImageError } from './image-error.ts'
import type { BlobToPush, ManifestToPush } from './open-pusher.ts'

/** The layer as it is pushed, or as it lies in the target's repository already. */
export interface LayerToPlace {
  readonly descriptor: Descriptor
  readonly summary: CatalogLayerSummary
  readonly read: () => Promise<Uint8Array>
}

export interface ImageSettings {
  readonly hasCache: boolean
  readonly compression: Compression
  readonly format: Format
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly created: string
}

export function settingsOf(order: Omit<CatalogImageOrder, 'files' | 'base'>): ImageSettings {
  const { cache = true, compression = 'gzip', format = 'oci', labels = {}, annotations = {} } = order
  if (compression === 'none' && format === 'docker')
    throw new ImageError('order', 'an uncompressed layer has no name in the format docker: use oci')
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
export const olmPlatforms = ['linux/amd64', 'linux/arm64', 'linux/ppc64le', 'linux/s390x']

interface Part {
  readonly platform: Document | undefined
  readonly platformName: string
  readonly config: Blob
  readonly manifest: Document
}

/** On a base. The pusher mounts blobs from the repository in the base's `name`. */
export function onBase(
  base: FetchedTree,
  registry: RegistryClient,
  layer: LayerToPlace,
  settings: ImageSettings,
): CatalogImage {
  const { format } = settings
  const baseLayers = new Map<string, Descriptor>()
  const parts = base.images.map((image): Part => {
    const config = blobOf(
      catalogConfig(image, { ...settings, diffId: layer.summary.diffId }),
      formats[format].config,
    )
    const below = image.manifest.layers.map((one) => layerIn(format, one))
    for (const one of below) baseLayers.set(one.digest, one)
    const annotations = { ...settings.annotations, ...baseAnnotations(base, image.digest) }
    return {
      platform: image.indexPlatform,
      platformName: image.platform,
      config,
      manifest: imageManifest(format, config, [...below, descriptorOf(layer)], annotations),
    }
  })
  const annotations = { ...settings.annotations, ...baseAnnotations(base, base.digest) }
  const lower = [...baseLayers.values()].map((descriptor): BlobToPush => ({
    digest: descriptor.digest,
    size: descriptor.size,
    read: () => registry.fetchBlob(base.reference, descriptor),
    mountFrom: base.reference.repository,
  }))
  return {
    ...imageOf(parts, base.isIndex, layer, lower, settings, annotations),
    base: { name: base.name, digest: base.digest },
  }
}

/** Only the catalog, once for each platform because clusters pull by platform. */
export function onScratch(
  platforms: readonly string[],
  layer: LayerToPlace,
  settings: ImageSettings,
): CatalogImage {
  const parts = platforms.map((name): Part => {
    const [os, architecture, variant] = name.split('/')
    if (os !== 'linux' || architecture === undefined || architecture === '')
      throw new ImageError('order', `"${name}" is no platform such as linux/amd64`)
    const config = blobOf(
      scratchConfig(name, { ...settings, diffId: layer.summary.diffId }),
      formats[settings.format].config,
    )
    return {
      platform: { architecture, os, ...(variant !== undefined && { variant }) },
      platformName: platformText({ os, architecture, ...(variant !== undefined && { variant }) }),
      config,
      manifest: imageManifest(settings.format, config, [descriptorOf(layer)], settings.annotations),
    }
  })
  return imageOf(parts, parts.length > 1, layer, [], settings, settings.annotations)
}

function imageOf(
  parts: readonly Part[],
  isIndex: boolean,
  layer: LayerToPlace,
  lower: readonly BlobToPush[],
  { format }: ImageSettings,
  annotations: Readonly<Record<string, string>>,
): CatalogImage {
  const images = parts.map(({ manifest }) => blobOf(manifest, formats[format].manifest))
  const index = blobOf(
    imageIndex(
      format,
      parts.map(({ platform = {} }, at) => ({ platform, manifest: images[at] as Blob })),
      annotations,
    ),
    formats[format].index,
  )
  const tops = isIndex ? [...images, index] : images
  const top = tops.at(-1)
  if (!top) throw new ImageError('order', 'there is no platform to build for')
  const configs = parts.map(({ config }): BlobToPush => ({ ...config, read: async () => config.bytes }))
  const { digest, size } = layer.descriptor
  return {
    digest: top.digest,
    mediaType: top.mediaType,
    contentDigest: contentDigest(isIndex, parts),
    platforms: parts.map(({ platformName }) => platformName),
    layer: layer.summary,
    manifests: tops.map(({ mediaType, bytes }) => ({ mediaType, bytes })) as [
      ...ManifestToPush[],
      ManifestToPush,
    ],
    blobs: [{ digest, size, read: layer.read }, ...configs, ...lower],
  }
}

function descriptorOf({ descriptor: { mediaType, digest, size } }: LayerToPlace): Document {
  return { mediaType, digest, size }
}

function baseAnnotations(base: FetchedTree, digest: string): Readonly<Record<string, string>> {
  return { [baseNameAnnotation]: base.name, [baseDigestAnnotation]: digest }
}
