// Builds the OCI manifests that refer to an image: SBOM, provenance, and cosign's artifacts.
import { createHash } from 'node:crypto'
import type { ImageAttachment } from '../catalog-publisher.ts'
import type { BlobToPush } from '../open-pusher.ts'
import type { ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { manifestMediaTypes, type ImageIndexEntry } from '../../registry/manifest.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { sbomMediaType } from './image-sbom.ts'
import { dsseEnvelopeMediaType, inTotoMediaType } from './dsse-envelope.ts'
import { simpleSigningMediaType } from './simple-signing.ts'
import { slsaProvenanceType } from './provenance-statement.ts'

/** The top document of the image that the artifacts belong to. */
export interface ArtifactSubject {
  readonly host: string
  readonly repository: string
  readonly digest: string
  readonly mediaType: string
  readonly size: number
}

/** A layer as listed in a manifest. Includes its bytes unless the registry has them. */
export interface ArtifactLayer {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly annotations?: Readonly<Record<string, string>>
}

/** The subject for artifacts of the image that a reference currently points to. */
export async function fetchArtifactSubject(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  reference: ImageReference,
): Promise<ArtifactSubject> {
  const { digest, mediaType, bytes } = await registry.fetchManifest(reference)
  const { host, repository } = reference
  return { host, repository, digest, mediaType, size: bytes.length }
}

const maxImagePlatforms = 200

/** Every manifest below an index, nested ones first. Empty for a single-platform image. Nodes pull these by digest. */
export async function fetchPlatformManifests(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ImageReference & { readonly digest: string },
  found = new Map<string, ArtifactSubject & Pick<ImageIndexEntry, 'platform'>>(),
): Promise<readonly (ArtifactSubject & Pick<ImageIndexEntry, 'platform'>)[]> {
  const { host, repository, digest } = image
  const { manifest } = await registry.fetchManifest({ host, repository, digest })
  if (manifest.kind !== 'index') return []
  for (const { mediaType, digest, size, platform } of manifest.manifests) {
    if (found.has(digest)) continue
    const one = { host, repository, digest, mediaType, size, ...(platform && { platform }) }
    if (mediaType === manifestMediaTypes.ociIndex || mediaType === manifestMediaTypes.dockerList)
      await fetchPlatformManifests(registry, one, found)
    found.set(digest, one)
    if (found.size > maxImagePlatforms)
      throw new RegistryError('unsupported', `the image has more than ${maxImagePlatforms} manifests`)
  }
  return [...found.values()]
}

export const cosignSignatureAnnotation = 'dev.cosignproject.cosign/signature'

export function formatRepositoryName({
  host,
  repository,
}: Pick<ArtifactSubject, 'host' | 'repository'>): string {
  return `${host}/${repository}`
}

/** The tag that cosign uses: `.sig` for signatures, `.att` for attestations. */
export function formatCosignTag(digest: string, kind: 'sig' | 'att'): string {
  return `${digest.replace(':', '-')}.${kind}`
}

export function createSbomAttachment(subject: ArtifactSubject, bill: Uint8Array): ImageAttachment {
  return createOciArtifact(subject, sbomMediaType, [{ bytes: bill, mediaType: sbomMediaType }])
}

/** Unsigned provenance, for users who trust the registry. */
export function createProvenanceAttachment(subject: ArtifactSubject, statement: Uint8Array): ImageAttachment {
  return createOciArtifact(subject, inTotoMediaType, [
    { bytes: statement, mediaType: inTotoMediaType, annotations: provenancePredicateAnnotations },
  ])
}

const provenancePredicateAnnotations = { 'in-toto.io/predicate-type': slsaProvenanceType }

export function createAttestationAttachment(
  subject: ArtifactSubject,
  envelope: Uint8Array,
  present: readonly ArtifactLayer[],
): ImageAttachment {
  const layer = toArtifactLayer(envelope, dsseEnvelopeMediaType, {
    [cosignSignatureAnnotation]: '',
    predicateType: slsaProvenanceType,
    ...provenancePredicateAnnotations,
  })
  return createCosignImage(subject, 'att', [...present, layer], envelope)
}

export function createSignatureAttachment(
  subject: ArtifactSubject,
  payload: Uint8Array,
  signature: Uint8Array,
  present: readonly ArtifactLayer[],
): ImageAttachment {
  const layer = toArtifactLayer(payload, simpleSigningMediaType, {
    [cosignSignatureAnnotation]: Buffer.from(signature).toString('base64'),
  })
  return createCosignImage(subject, 'sig', [...present, layer], payload)
}

const cosignArtifactTypes = {
  sig: 'application/vnd.dev.cosign.artifact.sig.v1+json',
  att: 'application/vnd.dev.cosign.artifact.att.v1+json',
} as const

/** cosign's format, an empty image with a layer for each signature. */
function createCosignImage(
  subject: ArtifactSubject,
  kind: 'sig' | 'att',
  layers: readonly ArtifactLayer[],
  bytes: Uint8Array,
): ImageAttachment {
  const created = '0001-01-01T00:00:00Z'
  const config = Buffer.from(
    JSON.stringify({
      architecture: '',
      created,
      history: layers.map(() => ({ created })),
      os: '',
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
      config: {},
    }),
  )
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestMediaTypes.ociManifest,
    artifactType: cosignArtifactTypes[kind],
    config: createBlobDescriptor(config, 'application/vnd.oci.image.config.v1+json'),
    layers,
    subject: toSubjectDescriptor(subject),
  }
  return {
    repository: formatRepositoryName(subject),
    manifest: { mediaType: manifestMediaTypes.ociManifest, bytes: Buffer.from(JSON.stringify(manifest)) },
    blobs: [toBlobToPush(config), toBlobToPush(bytes)],
    tags: [formatCosignTag(subject.digest, kind)],
  }
}

const emptyJsonConfig = Buffer.from('{}')

/** An OCI 1.1 artifact with a type, an empty config, and content. */
function createOciArtifact(
  subject: ArtifactSubject,
  artifactType: string,
  content: readonly {
    readonly bytes: Uint8Array
    readonly mediaType: string
    readonly annotations?: Readonly<Record<string, string>>
  }[],
): ImageAttachment {
  const [first] = content
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestMediaTypes.ociManifest,
    artifactType,
    config: createBlobDescriptor(emptyJsonConfig, 'application/vnd.oci.empty.v1+json'),
    layers: content.map(({ bytes, mediaType, annotations }) =>
      toArtifactLayer(bytes, mediaType, annotations),
    ),
    subject: toSubjectDescriptor(subject),
    ...(first?.annotations && { annotations: first.annotations }),
  }
  return {
    repository: formatRepositoryName(subject),
    manifest: { mediaType: manifestMediaTypes.ociManifest, bytes: Buffer.from(JSON.stringify(manifest)) },
    blobs: [toBlobToPush(emptyJsonConfig), ...content.map(({ bytes }) => toBlobToPush(bytes))],
  }
}

function toSubjectDescriptor({ mediaType, digest, size }: ArtifactSubject): object {
  return { mediaType, digest, size }
}

function createBlobDescriptor(bytes: Uint8Array, mediaType: string): object {
  return { mediaType, digest: computeSha256Digest(bytes), size: bytes.length }
}

function toArtifactLayer(
  bytes: Uint8Array,
  mediaType: string,
  annotations?: Readonly<Record<string, string>>,
): ArtifactLayer {
  return {
    mediaType,
    digest: computeSha256Digest(bytes),
    size: bytes.length,
    ...(annotations && { annotations }),
  }
}

function toBlobToPush(bytes: Uint8Array): BlobToPush {
  return { digest: computeSha256Digest(bytes), size: bytes.length, read: () => Promise.resolve(bytes) }
}

export function computeSha256Digest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
