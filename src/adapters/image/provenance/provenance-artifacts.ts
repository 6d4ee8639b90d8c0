// Builds the OCI manifests that refer to an image: SBOM, provenance, and cosign's artifacts.
import { type ImageReference, parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { compareBytes } from '@catalog-bot/fbc/go/text'
import type { CatalogBundleSummary, ImageAttachment } from '../catalog-publisher.ts'
import type { BlobToPush } from '../open-pusher.ts'
import { computeSha256Digest, manifestMediaTypes, type ImageIndexEntry } from '../../registry/manifest.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import {
  dsseEnvelopeMediaType,
  inTotoMediaType,
  simpleSigningMediaType,
  type SignedImage,
} from './signature-formats.ts'
import { slsaProvenanceType } from './provenance-statement.ts'

/** A catalog image's SBOM (CycloneDX 1.6) with every bundle and its images. Deterministic, without timestamps or randomness. */
export const sbomMediaType = 'application/vnd.cyclonedx+json'

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

export function formatRepositoryName(subject: Pick<ArtifactSubject, 'host' | 'repository'>): string {
  return `${subject.host}/${subject.repository}`
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
  const layer = createBlobDescriptor(envelope, dsseEnvelopeMediaType, {
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
  const layer = createBlobDescriptor(payload, simpleSigningMediaType, {
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
    artifactType: cosignArtifactTypes[kind],
    config: createBlobDescriptor(config, 'application/vnd.oci.image.config.v1+json'),
    layers,
  }
  const tags = [formatCosignTag(subject.digest, kind)]
  return { ...createAttachment(subject, manifest, [config, bytes]), tags }
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
    artifactType,
    config: createBlobDescriptor(emptyJsonConfig, 'application/vnd.oci.empty.v1+json'),
    layers: content.map(({ bytes, mediaType, annotations }) =>
      createBlobDescriptor(bytes, mediaType, annotations),
    ),
  }
  const more = first?.annotations && { annotations: first.annotations }
  return createAttachment(subject, manifest, [emptyJsonConfig, ...content.map(({ bytes }) => bytes)], more)
}

/** `more`: fields after the subject, because the order of the fields is part of the digest. */
function createAttachment(
  subject: ArtifactSubject,
  { artifactType, config, layers }: Readonly<Record<'artifactType' | 'config' | 'layers', unknown>>,
  blobs: readonly Uint8Array[],
  more?: object,
): ImageAttachment {
  const { ociManifest: mediaType } = manifestMediaTypes
  const { mediaType: type, digest, size } = subject
  const about = { subject: { mediaType: type, digest, size }, ...more }
  const manifest = { schemaVersion: 2, mediaType, artifactType, config, layers, ...about }
  return {
    repository: formatRepositoryName(subject),
    manifest: { mediaType, bytes: Buffer.from(JSON.stringify(manifest)) },
    blobs: blobs.map(toBlobToPush),
  }
}

function createBlobDescriptor(
  bytes: Uint8Array,
  mediaType: string,
  annotations?: Readonly<Record<string, string>>,
): ArtifactLayer {
  const digest = computeSha256Digest(bytes)
  return { mediaType, digest, size: bytes.length, ...(annotations && { annotations }) }
}

function toBlobToPush(bytes: Uint8Array): BlobToPush {
  return { digest: computeSha256Digest(bytes), size: bytes.length, read: () => Promise.resolve(bytes) }
}

export function createImageSbom(
  image: SignedImage,
  listed: readonly CatalogBundleSummary[],
  version: string,
): Uint8Array {
  const top = `${image.repository}@${image.digest}`
  const bundles = listed
    .map((bundle) => ({
      ref: `bundle:${bundle.package}/${bundle.name}`,
      package: bundle.package,
      name: bundle.name,
      version: bundle.version,
      images: [bundle.image, ...bundle.relatedImages].filter((reference) => reference !== ''),
    }))
    .sort((a, b) => compareBytes(a.ref, b.ref))
  const references = sortUniqueStrings(bundles.flatMap(({ images }) => images)).filter(
    (reference) => reference !== top,
  )
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      tools: { components: [{ type: 'application', name: 'catalog-bot', version }] },
      component: toSbomImageComponent(top),
    },
    components: [
      ...bundles.map((bundle) => ({
        type: 'application',
        'bom-ref': bundle.ref,
        group: bundle.package,
        name: bundle.name,
        ...(bundle.version !== '' && { version: bundle.version }),
      })),
      ...references.map(toSbomImageComponent),
    ],
    dependencies: [
      { ref: top, dependsOn: bundles.map(({ ref }) => ref) },
      ...bundles.map(({ ref, images }) => ({ ref, dependsOn: sortUniqueStrings(images) })),
    ],
  }
  return new TextEncoder().encode(JSON.stringify(bill))
}

function sortUniqueStrings(strings: readonly string[]): readonly string[] {
  return [...new Set(strings)].sort(compareBytes)
}

function toSbomImageComponent(text: string): object {
  const { reference } = parseImageReference(text)
  const sha256 = /^sha256:(?<hex>[0-9a-f]{64})$/.exec(reference?.digest ?? '')?.groups?.['hex']
  const version = reference?.digest ?? reference?.tag
  return {
    type: 'container',
    'bom-ref': text,
    name: reference ? `${reference.host}/${reference.repository}` : text,
    ...(version !== undefined && { version }),
    ...(reference && { purl: formatPackageUrl(reference) }),
    ...(sha256 !== undefined && { hashes: [{ alg: 'SHA-256', content: sha256 }] }),
  }
}

/** https://github.com/package-url/purl-spec, type `oci`: the name is the last part of the repository. */
function formatPackageUrl({ host, repository, tag, digest }: ImageReference): string {
  const name = repository.slice(repository.lastIndexOf('/') + 1)
  const version = digest === undefined ? '' : `@${encodeURIComponent(digest)}`
  const repositoryUrl = encodeURIComponent(`${host}/${repository}`)
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
  return `pkg:oci/${name}${version}?repository_url=${repositoryUrl}${tag === undefined ? '' : `&tag=${tag}`}`
}
