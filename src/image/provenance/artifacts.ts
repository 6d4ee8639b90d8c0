// Builds the OCI manifests that refer to an image: bill of images, provenance, and cosign's artifacts.
import { createHash } from 'node:crypto'
import type { Attachment } from '../catalog-publisher.ts'
import type { BlobToPush } from '../open-pusher.ts'
import type { ImageReference } from '../../go/reference/image-reference.ts'
import { mediaTypes, type IndexEntry } from '../../registry/manifest.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { billType } from './bill-of-images.ts'
import { envelopeType, inTotoType } from './envelope.ts'
import { simpleSigningType } from './simple-signing.ts'
import { provenanceType } from './statement.ts'

/** The top document of the image that the artifacts belong to. */
export interface Subject {
  readonly host: string
  readonly repository: string
  readonly digest: string
  readonly mediaType: string
  readonly size: number
}

/** A layer as a manifest lists it; with its bytes unless the registry has them. */
export interface ArtifactLayer {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
  readonly annotations?: Readonly<Record<string, string>>
}

/** The subject for artifacts of a reference's current image. */
export async function subjectOf(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  reference: ImageReference,
): Promise<Subject> {
  const { digest, mediaType, bytes } = await registry.fetchManifest(reference)
  const { host, repository } = reference
  return { host, repository, digest, mediaType, size: bytes.length }
}

const maxPlatforms = 200

/** Every manifest below an index, nested ones first; empty for a single-platform image. Nodes pull these by digest. */
export async function platformsOf(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ImageReference & { readonly digest: string },
  found = new Map<string, Subject & Pick<IndexEntry, 'platform'>>(),
): Promise<readonly (Subject & Pick<IndexEntry, 'platform'>)[]> {
  const { host, repository, digest } = image
  const { manifest } = await registry.fetchManifest({ host, repository, digest })
  if (manifest.kind !== 'index') return []
  for (const { mediaType, digest, size, platform } of manifest.manifests) {
    if (found.has(digest)) continue
    const one = { host, repository, digest, mediaType, size, ...(platform && { platform }) }
    if (mediaType === mediaTypes.ociIndex || mediaType === mediaTypes.dockerList)
      await platformsOf(registry, one, found)
    found.set(digest, one)
    if (found.size > maxPlatforms)
      throw new RegistryError('unsupported', `it has more than ${maxPlatforms} manifests`)
  }
  return [...found.values()]
}

export const signatureAnnotation = 'dev.cosignproject.cosign/signature'

export function repositoryName({ host, repository }: Pick<Subject, 'host' | 'repository'>): string {
  return `${host}/${repository}`
}

/** The tag where cosign looks: `.sig` for signatures, `.att` for attestations. */
export function cosignTag(digest: string, kind: 'sig' | 'att'): string {
  return `${digest.replace(':', '-')}.${kind}`
}

export function billAttachment(subject: Subject, bill: Uint8Array): Attachment {
  return artifact(subject, billType, [{ bytes: bill, mediaType: billType }])
}

/** Unsigned provenance, for users who trust the registry. */
export function provenanceAttachment(subject: Subject, statement: Uint8Array): Attachment {
  return artifact(subject, inTotoType, [
    { bytes: statement, mediaType: inTotoType, annotations: predicateAnnotation },
  ])
}

const predicateAnnotation = { 'in-toto.io/predicate-type': provenanceType }

export function attestationAttachment(
  subject: Subject,
  envelope: Uint8Array,
  present: readonly ArtifactLayer[],
): Attachment {
  const layer = layerOf(envelope, envelopeType, {
    [signatureAnnotation]: '',
    predicateType: provenanceType,
    ...predicateAnnotation,
  })
  return cosignImage(subject, 'att', [...present, layer], envelope)
}

export function signatureAttachment(
  subject: Subject,
  payload: Uint8Array,
  signature: Uint8Array,
  present: readonly ArtifactLayer[],
): Attachment {
  const layer = layerOf(payload, simpleSigningType, {
    [signatureAnnotation]: Buffer.from(signature).toString('base64'),
  })
  return cosignImage(subject, 'sig', [...present, layer], payload)
}

const artifactTypes = {
  sig: 'application/vnd.dev.cosign.artifact.sig.v1+json',
  att: 'application/vnd.dev.cosign.artifact.att.v1+json',
} as const

/** cosign's format: an empty image with a layer for each signature. */
function cosignImage(
  subject: Subject,
  kind: 'sig' | 'att',
  layers: readonly ArtifactLayer[],
  bytes: Uint8Array,
): Attachment {
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
    mediaType: mediaTypes.ociManifest,
    artifactType: artifactTypes[kind],
    config: descriptorOf(config, 'application/vnd.oci.image.config.v1+json'),
    layers,
    subject: subjectDescriptor(subject),
  }
  return {
    repository: repositoryName(subject),
    manifest: { mediaType: mediaTypes.ociManifest, bytes: Buffer.from(JSON.stringify(manifest)) },
    blobs: [blobOf(config), blobOf(bytes)],
    tags: [cosignTag(subject.digest, kind)],
  }
}

const empty = Buffer.from('{}')

/** An OCI 1.1 artifact: a type, an empty config, and its content. */
function artifact(
  subject: Subject,
  artifactType: string,
  content: readonly {
    readonly bytes: Uint8Array
    readonly mediaType: string
    readonly annotations?: Readonly<Record<string, string>>
  }[],
): Attachment {
  const [first] = content
  const manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    artifactType,
    config: descriptorOf(empty, 'application/vnd.oci.empty.v1+json'),
    layers: content.map(({ bytes, mediaType, annotations }) => layerOf(bytes, mediaType, annotations)),
    subject: subjectDescriptor(subject),
    ...(first?.annotations && { annotations: first.annotations }),
  }
  return {
    repository: repositoryName(subject),
    manifest: { mediaType: mediaTypes.ociManifest, bytes: Buffer.from(JSON.stringify(manifest)) },
    blobs: [blobOf(empty), ...content.map(({ bytes }) => blobOf(bytes))],
  }
}

function subjectDescriptor({ mediaType, digest, size }: Subject): object {
  return { mediaType, digest, size }
}

function descriptorOf(bytes: Uint8Array, mediaType: string): object {
  return { mediaType, digest: sha256Of(bytes), size: bytes.length }
}

function layerOf(
  bytes: Uint8Array,
  mediaType: string,
  annotations?: Readonly<Record<string, string>>,
): ArtifactLayer {
  return { mediaType, digest: sha256Of(bytes), size: bytes.length, ...(annotations && { annotations }) }
}

function blobOf(bytes: Uint8Array): BlobToPush {
  return { digest: sha256Of(bytes), size: bytes.length, read: () => Promise.resolve(bytes) }
}

export function sha256Of(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
