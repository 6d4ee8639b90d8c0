import { createHash } from 'node:crypto'
import { z } from 'zod'
import { RegistryError } from './registry-error.ts'
import { createInvalidResponseError, goObject, parseStrictJson } from './strict-json.ts'

export function computeSha256Digest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

const stringListSchema = z.array(z.string())

const stringMapSchema = z.record(z.string(), z.string())

/** A set, as Go writes it: keys with empty objects. */
const goStringSetSchema = z.record(z.string(), goObject({}).nullable())

const platformFields = {
  architecture: z.string(),
  os: z.string(),
  'os.version': z.string(),
  'os.features': stringListSchema,
  variant: z.string(),
} as const

const platformSchema = goObject({ ...platformFields, features: stringListSchema })

const descriptorSchema = goObject({
  mediaType: z.string(),
  digest: z.string(),
  size: z.int(),
  urls: stringListSchema,
  annotations: stringMapSchema,
  data: z.base64(),
  artifactType: z.string(),
  platform: platformSchema,
})

/** Fields of manifests, indexes and image configs (OCI image-spec: manifest.md, image-index.md, config.md; Docker's formats). Fields that no reader uses by name are omitted. */
const manifestSchema = goObject({
  schemaVersion: z.int(),
  mediaType: z.string(),
  artifactType: z.string(),
  config: descriptorSchema,
  layers: z.array(descriptorSchema),
  manifests: z.array(descriptorSchema),
  subject: descriptorSchema,
  annotations: stringMapSchema,
  name: z.unknown(),
  tag: z.unknown(),
  architecture: z.unknown(),
  fsLayers: z.unknown(),
  history: z.unknown(),
  signatures: z.unknown(),
})

const imageConfigSchema = goObject({
  ...platformFields,
  created: z.string(),
  author: z.string(),
  config: goObject({
    User: z.string(),
    ExposedPorts: goStringSetSchema,
    Env: stringListSchema,
    Entrypoint: stringListSchema,
    Cmd: stringListSchema,
    Volumes: goStringSetSchema,
    WorkingDir: z.string(),
    Labels: stringMapSchema,
    StopSignal: z.string(),
    ArgsEscaped: z.boolean(),
  }),
  rootfs: goObject({ type: z.string(), diff_ids: stringListSchema }),
  history: z.array(
    goObject({
      created: z.string(),
      created_by: z.string(),
      author: z.string(),
      comment: z.string(),
      empty_layer: z.boolean(),
    }),
  ),
})

/** The label with the catalog's directory. */
export const catalogDirectoryLabel = 'operators.operatorframework.io.index.configs.v1'

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
  rejectTooManyValues(body)
  const data = parseStrictJson(body, manifestSchema)
  if (data.schemaVersion === 1 || isDockerSchema1MediaType(contentType))
    throw new RegistryError(
      'unsupported',
      'the image uses the old schema 1 format, which clusters no longer support',
    )
  if (data.schemaVersion !== 2) throw createInvalidResponseError('the schemaVersion is not 2')
  const declared = data.mediaType
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
    if (!data.manifests) throw createInvalidResponseError('the index has no manifest list')
    return { kind: 'index', mediaType: type, manifests: data.manifests.map(parseImageIndexEntry) }
  }
  if (type !== manifestMediaTypes.ociManifest && type !== manifestMediaTypes.dockerManifest)
    throw new RegistryError('unsupported', `the media type ${type.slice(0, 100)} is not an image type`)
  if (!data.layers) throw createInvalidResponseError('the image has no layer list')
  return {
    kind: 'image',
    mediaType: type,
    config: parseDescriptor(data.config ?? {}),
    layers: data.layers.map(parseDescriptor),
  }
}

const [comma, openBracket, openBrace] = new TextEncoder().encode(',[{')
const maxDocumentValues = 50_000

/**
 * Parsing four megabytes of short values takes this process seconds, and an index of a hundred platforms has about a
 * thousand values.
 */
function rejectTooManyValues(body: Uint8Array): void {
  let count = 0
  for (const byte of body) if (byte === comma || byte === openBracket || byte === openBrace) count += 1
  if (count > maxDocumentValues)
    throw createInvalidResponseError(`the document has more than ${maxDocumentValues} values`)
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
    rejectTooManyValues(body)
    const data = parseStrictJson(body, imageConfigSchema)
    const platform = parsePlatform(data)
    return {
      labels: data.config?.Labels ?? {},
      diffIds: data.rootfs?.diff_ids ?? [],
      ...(platform && { platform }),
    }
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

function parseImageIndexEntry(value: z.output<typeof descriptorSchema>): ImageIndexEntry {
  const descriptor = parseDescriptor(value)
  const platform = parsePlatform(value.platform)
  return platform ? { ...descriptor, platform } : descriptor
}

function parseDescriptor({ mediaType = '', digest, size }: z.output<typeof descriptorSchema>): Descriptor {
  if (digest === undefined) throw createInvalidResponseError('a descriptor has no digest')
  if (!isSha256OrSha512Digest(digest))
    throw new RegistryError(
      'unsupported',
      `the digest ${JSON.stringify(digest.slice(0, 100))} of a descriptor is neither sha256 nor sha512`,
    )
  if (size === undefined || size < 0) throw createInvalidResponseError('a descriptor has an invalid size')
  return { mediaType, digest, size }
}

function parsePlatform({ os, architecture, variant }: z.output<typeof platformSchema> = {}):
  Platform | undefined {
  return os && architecture ? { os, architecture, ...(variant && { variant }) } : undefined
}
