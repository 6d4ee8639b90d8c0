// Creates configs, manifests and the index from the base's documents. Pure and deterministic; preserves unknown fields.
import { createHash } from 'node:crypto'
import { mediaTypes, type Descriptor } from '../registry/manifest.ts'
import type { Document, FetchedImage } from './base-image.ts'
import { ImageError } from './image-error.ts'

export const catalogLabel = 'operators.operatorframework.io.index.configs.v1'
export const baseNameAnnotation = 'org.opencontainers.image.base.name'
export const baseDigestAnnotation = 'org.opencontainers.image.base.digest'

/** Identifies our layer in the config's history. */
export const madeBy = 'catalog-bot build'

export type Format = 'oci' | 'docker'
export type Compression = 'gzip' | 'none'

interface FormatTypes {
  readonly index: string
  readonly manifest: string
  readonly config: string
  readonly layers: Readonly<Record<Compression, string>>
}

export const formats: Readonly<Record<Format, FormatTypes>> = {
  oci: {
    index: mediaTypes.ociIndex,
    manifest: mediaTypes.ociManifest,
    config: 'application/vnd.oci.image.config.v1+json',
    layers: {
      gzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
      none: 'application/vnd.oci.image.layer.v1.tar',
    },
  },
  docker: {
    index: mediaTypes.dockerList,
    manifest: mediaTypes.dockerManifest,
    config: 'application/vnd.docker.container.image.v1+json',
    layers: {
      gzip: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
      // Undocumented and rarely supported.
      none: 'application/vnd.docker.image.rootfs.diff.tar',
    },
  },
}

export interface ConfigOrder {
  readonly diffId: string
  readonly hasCache: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly created: string
}

/** The same config as with the Dockerfile of `opm generate dockerfile`. */
export function catalogConfig(base: Pick<FetchedImage, 'config' | 'diffIds'>, order: ConfigOrder): Document {
  const { config } = base
  const inner = (config['config'] ?? {}) as Document
  const rootfs = (config['rootfs'] ?? {}) as Document
  return {
    ...config,
    created: order.created,
    config: {
      ...inner,
      Entrypoint: ['/bin/opm'],
      Cmd: ['serve', '/configs', ...(order.hasCache ? ['--cache-dir=/tmp/cache'] : [])],
      Labels: labelsOf((inner['Labels'] ?? {}) as Record<string, string>, order.labels),
    },
    rootfs: { ...rootfs, type: 'layers', diff_ids: [...base.diffIds, order.diffId] },
    ...historyOf(config, base.diffIds.length, order.created),
  }
}

/** The config of a catalog-only image: OLM extracts the catalog and serves it with its own opm. */
export function scratchConfig(platform: string, order: ConfigOrder): Document {
  const [os, architecture, variant] = platform.split('/')
  return {
    created: order.created,
    architecture,
    os,
    ...(variant !== undefined && { variant }),
    config: { Labels: labelsOf({}, order.labels) },
    rootfs: { type: 'layers', diff_ids: [order.diffId] },
    ...historyOf({}, 0, order.created),
  }
}

function labelsOf(base: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): Document {
  return sortedKeys({ ...base, ...own, [catalogLabel]: '/configs' })
}

/** A history must cover all layers, so none is started if the base has none. */
function historyOf(config: Document, layers: number, created: string): { history?: readonly Document[] } {
  const before = (config['history'] ?? []) as readonly Document[]
  if (before.filter((entry) => entry['empty_layer'] !== true).length !== layers) return {}
  return { history: [...before, { created, created_by: madeBy }] }
}

export interface Blob extends Descriptor {
  readonly bytes: Uint8Array
}

export function blobOf(document: Document, mediaType: string): Blob {
  const bytes = new TextEncoder().encode(JSON.stringify(document))
  return { mediaType, digest: digestOf(bytes), size: bytes.length, bytes }
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

export function imageManifest(
  format: Format,
  config: Descriptor,
  layers: readonly Document[],
  annotations: Readonly<Record<string, string>>,
): Document {
  const { mediaType, digest, size } = config
  return {
    schemaVersion: 2,
    mediaType: formats[format].manifest,
    config: { mediaType, digest, size },
    layers,
    ...annotated(format, annotations),
  }
}

export function imageIndex(
  format: Format,
  images: readonly { readonly manifest: Descriptor; readonly platform: Document }[],
  annotations: Readonly<Record<string, string>>,
): Document {
  return {
    schemaVersion: 2,
    mediaType: formats[format].index,
    manifests: images.map(({ manifest: { mediaType, digest, size }, platform }) => ({
      mediaType,
      digest,
      size,
      platform,
    })),
    ...annotated(format, annotations),
  }
}

function annotated(format: Format, annotations: Readonly<Record<string, string>>): Document {
  if (format === 'docker' || Object.keys(annotations).length === 0) return {}
  return { annotations: sortedKeys(annotations) }
}

function sortedKeys(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Maps a layer's media type to another format. */
export function layerIn(format: Format, layer: Document & Descriptor): Document & Descriptor {
  const kind = layerKinds.find((names) => Object.values(names).includes(layer.mediaType))
  const mediaType = kind?.[format]
  if (mediaType === undefined)
    throw new ImageError(
      'base',
      `a layer of the base is of the type ${layer.mediaType}, which ${format} has no name for`,
    )
  return { ...layer, mediaType }
}

const layerKinds: readonly { readonly oci: string; readonly docker?: string }[] = [
  { oci: formats.oci.layers.gzip, docker: formats.docker.layers.gzip },
  { oci: formats.oci.layers.none, docker: formats.docker.layers.none },
  { oci: 'application/vnd.oci.image.layer.v1.tar+zstd' },
]

/**
 * A digest of every platform's config, which has the uncompressed layers' digests. Ignores compression and annotations.
 * `images` are in the order of the index.
 */
export function contentDigest(
  isIndex: boolean,
  images: readonly { readonly platform: Document | undefined; readonly manifest: Document }[],
): string {
  const lines = images.map(({ platform, manifest }) => {
    const config = manifest['config'] as Descriptor
    const layers = manifest['layers'] as readonly Descriptor[]
    const told = Object.entries(platform ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
    return JSON.stringify([told, config.mediaType, config.digest, layers.map(({ mediaType }) => mediaType)])
  })
  return digestOf(new TextEncoder().encode([isIndex ? 'index' : 'image', ...lines].join('\n')))
}
