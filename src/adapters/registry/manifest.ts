import { RegistryError } from './registry-error.ts'
import { parseStrictJson, type JsonShape } from './strict-json.ts'

const stringListJsonShape: JsonShape = { list: 'string' }

const annotationsJsonShape: JsonShape = { map: 'string' }

/** A set, as Go writes it: keys with empty objects. */
const goStringSetJsonShape: JsonShape = { map: { fields: {} } }

const platformFieldJsonShapes = {
  architecture: 'string',
  os: 'string',
  'os.version': 'string',
  'os.features': stringListJsonShape,
  variant: 'string',
} as const

const descriptorJsonShape: JsonShape = {
  fields: {
    mediaType: 'string',
    digest: 'string',
    size: 'integer',
    urls: stringListJsonShape,
    annotations: annotationsJsonShape,
    data: 'bytes',
    artifactType: 'string',
    platform: { fields: { ...platformFieldJsonShapes, features: stringListJsonShape } },
  },
}

/** Fields of manifests, indexes and image configs (OCI image-spec: manifest.md, image-index.md, config.md; Docker's formats). Fields that no reader uses by name are omitted. */
const manifestJsonShape: JsonShape = {
  fields: {
    schemaVersion: 'integer',
    mediaType: 'string',
    artifactType: 'string',
    config: descriptorJsonShape,
    layers: { list: descriptorJsonShape },
    manifests: { list: descriptorJsonShape },
    subject: descriptorJsonShape,
    annotations: annotationsJsonShape,
    name: 'any',
    tag: 'any',
    architecture: 'any',
    fsLayers: 'any',
    history: 'any',
    signatures: 'any',
  },
}

const imageConfigJsonShape: JsonShape = {
  fields: {
    ...platformFieldJsonShapes,
    created: 'string',
    author: 'string',
    config: {
      fields: {
        User: 'string',
        ExposedPorts: goStringSetJsonShape,
        Env: stringListJsonShape,
        Entrypoint: stringListJsonShape,
        Cmd: stringListJsonShape,
        Volumes: goStringSetJsonShape,
        WorkingDir: 'string',
        Labels: annotationsJsonShape,
        StopSignal: 'string',
        ArgsEscaped: 'boolean',
      },
    },
    rootfs: { fields: { type: 'string', diff_ids: stringListJsonShape } },
    history: {
      list: {
        fields: {
          created: 'string',
          created_by: 'string',
          author: 'string',
          comment: 'string',
          empty_layer: 'boolean',
        },
      },
    },
  },
}

export const manifestMediaTypes = {
  ociIndex: 'application/vnd.oci.image.index.v1+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  ociManifest: 'application/vnd.oci.image.manifest.v1+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
} as const

// Always lists all four types. If a type is missing, registries return "not found" or convert the document, which
// changes its digest.
export const manifestAcceptHeader = Object.values(manifestMediaTypes).join(', ')

const dockerSchema1MediaTypePattern =
  /^application\/vnd\.docker\.distribution\.manifest\.v1\+(?:json|prettyjws)$/

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface Platform {
  readonly os: string
  readonly architecture: string
  readonly variant?: string
}

export type Manifest =
  | { readonly kind: 'index'; readonly mediaType: string; readonly manifests: readonly ImageIndexEntry[] }
  | {
      readonly kind: 'image'
      readonly mediaType: string
      readonly config: Descriptor
      readonly layers: readonly Descriptor[]
    }

export interface ImageIndexEntry extends Descriptor {
  readonly platform?: Platform
}

export function isManifestMediaType(mediaType: string): boolean {
  return (Object.values(manifestMediaTypes) as string[]).includes(mediaType)
}

export function isDockerSchema1MediaType(mediaType: string): boolean {
  return dockerSchema1MediaTypePattern.test(mediaType)
}

export function stripMediaTypeParameters(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

export interface ImageConfig {
  readonly labels: Readonly<Record<string, string>>
  /** The digests of the uncompressed layer archives. */
  readonly diffIds: readonly string[]
  /** Undefined if the config does not declare one. */
  readonly platform?: Platform
}

/**
 * Throws a RegistryError: `unsupported` for schema 1 and unknown types, `bad-reply` for a document that contradicts its
 * type or could be read as two kinds (GHSA-mc8v-mgrf-8f4m).
 */
export function parseManifest(body: Uint8Array, contentType: string): Manifest {
  const data = parseStrictJson(body, manifestJsonShape)
  if (data['schemaVersion'] === 1 || isDockerSchema1MediaType(contentType))
    throw new RegistryError(
      'unsupported',
      'the image uses the old schema 1 format, which clusters no longer support',
    )
  if (data['schemaVersion'] !== 2) throw createInvalidResponseError('the schemaVersion is not 2')
  const declared = data['mediaType'] as string | undefined
  if (declared !== undefined && isManifestMediaType(contentType) && declared !== contentType)
    throw createInvalidResponseError(
      `the Content-Type is ${contentType}, but the mediaType is ${declared.slice(0, 100)}`,
    )
  const isIndex = 'manifests' in data
  if (isIndex && ('layers' in data || 'config' in data))
    throw createInvalidResponseError('the manifest has fields of both an image and an index')
  if ('fsLayers' in data || 'history' in data)
    throw createInvalidResponseError('some clients could read the manifest as a schema 1 image')
  const mediaType = declared ?? (isManifestMediaType(contentType) ? contentType : undefined)
  // mediaType is optional in OCI documents, so the shape decides.
  const type = mediaType ?? (isIndex ? manifestMediaTypes.ociIndex : manifestMediaTypes.ociManifest)
  if (type === manifestMediaTypes.ociIndex || type === manifestMediaTypes.dockerList) {
    if (!Array.isArray(data['manifests'])) throw createInvalidResponseError('the index has no manifest list')
    return { kind: 'index', mediaType: type, manifests: data['manifests'].map(parseImageIndexEntry) }
  }
  if (type !== manifestMediaTypes.ociManifest && type !== manifestMediaTypes.dockerManifest)
    throw new RegistryError('unsupported', `the media type ${type.slice(0, 100)} is not an image type`)
  if (!Array.isArray(data['layers'])) throw createInvalidResponseError('the image has no layer list')
  return {
    kind: 'image',
    mediaType: type,
    config: parseDescriptor(data['config']),
    layers: data['layers'].map(parseDescriptor),
  }
}

/** `linux/amd64`, `linux/arm/v7`. */
export function formatPlatform(platform: Platform): string {
  const { os, architecture, variant } = platform
  // arm64 has only one variant in practice, whether it is declared or not.
  const shown = variant === undefined || variant === '' || (architecture === 'arm64' && variant === 'v8')
  return shown ? `${os}/${architecture}` : `${os}/${architecture}/${variant}`
}

/** Throws a RegistryError `unsupported`, which is not retryable, because the digest fixes these bytes. */
export function parseImageConfig(body: Uint8Array): ImageConfig {
  try {
    const data = parseStrictJson(body, imageConfigJsonShape)
    const { Labels: labels = {} } = (data['config'] ?? {}) as { Labels?: Record<string, string> }
    const { diff_ids: diffIds = [] } = (data['rootfs'] ?? {}) as { diff_ids?: string[] }
    const platform = parsePlatform(data)
    return { labels, diffIds, ...(platform && { platform }) }
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    throw new RegistryError('unsupported', `the config is invalid: ${error.message}`, { cause: error })
  }
}

/** Whether the algorithm is one that container runtimes support and that is collision-resistant. */
export function isSha256OrSha512Digest(digest: string): boolean {
  return /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/.test(digest)
}

/** Distinct platforms of an index, without attestations (`unknown/unknown`). */
export function getImageIndexPlatforms(manifests: readonly ImageIndexEntry[]): readonly string[] {
  const known = manifests.flatMap(({ platform }) =>
    platform && platform.os !== 'unknown' ? [formatPlatform(platform)] : [],
  )
  return [...new Set(known)]
}

function parseImageIndexEntry(value: unknown): ImageIndexEntry {
  const descriptor = parseDescriptor(value)
  const platform = parsePlatform((value as { platform?: unknown }).platform)
  return platform ? { ...descriptor, platform } : descriptor
}

function parseDescriptor(value: unknown): Descriptor {
  const { mediaType, digest, size } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >
  if (typeof digest !== 'string') throw createInvalidResponseError('a descriptor has no digest')
  if (!isSha256OrSha512Digest(digest))
    throw new RegistryError(
      'unsupported',
      `the digest ${JSON.stringify(digest.slice(0, 100))} of a descriptor is neither sha256 nor sha512`,
    )
  if (typeof size !== 'number' || size < 0)
    throw createInvalidResponseError('a descriptor has an invalid size')
  return { mediaType: typeof mediaType === 'string' ? mediaType : '', digest, size }
}

function parsePlatform(value: unknown): Platform | undefined {
  const { os, architecture, variant } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >
  if (typeof os !== 'string' || typeof architecture !== 'string' || os === '' || architecture === '')
    return undefined
  return { os, architecture, ...(typeof variant === 'string' && variant !== '' && { variant }) }
}

function createInvalidResponseError(message: string): RegistryError {
  return new RegistryError('bad-reply', message)
}
