// Attaches an SBOM, provenance, and a signature to a published image. The key signs only images that this process
// built. Replaces an equivalent image from another builder with the local build.
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { computeSha256Digest } from '../../registry/manifest.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { parseImageReferenceOrThrow, type OciJsonDocument } from '../base-image.ts'
import type {
  BuiltCatalogImage,
  CatalogPublisher,
  ImagePublishResult,
  ImagePublishTarget,
  ImageAttachment,
  CatalogBundleSummary,
} from '../catalog-publisher.ts'
import {
  fetchArtifactSubject,
  sbomMediaType,
  createAttestationAttachment,
  createSbomAttachment,
  fetchPlatformManifests,
  createProvenanceAttachment,
  formatRepositoryName,
  cosignSignatureAnnotation,
  createSignatureAttachment,
  type ArtifactLayer,
  type ArtifactSubject,
  createImageSbom,
} from './provenance-artifacts.ts'
import {
  inTotoMediaType,
  createSignedEnvelope,
  createSigningPayload,
  type SignedImage,
} from './signature-formats.ts'
import type { SigningKey } from './signing-key.ts'
import { type ImageBuildRecord, createProvenanceStatement } from './provenance-statement.ts'
import { fetchAttestation, fetchCosignLayers } from './verify-image.ts'

interface ProvenanceOptions {
  readonly image: ArtifactSubject
  readonly listed: readonly CatalogBundleSummary[]
  readonly build: ImageBuildRecord
  /** Default: no signatures. */
  readonly key?: SigningKey
  /** Default: true. */
  readonly signPlatforms?: boolean | undefined
}

type ProvenanceReader = Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>

export interface ImageAttestationContext {
  readonly publisher: Pick<CatalogPublisher, 'push' | 'attach' | 'attached'>
  /** Reads published images without using mirrors. */
  readonly registry: Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>
  /** Default: no signatures. */
  readonly key?: SigningKey | undefined
  /** Whether to sign each platform's manifest too. Default: true. */
  readonly signPlatforms?: boolean | undefined
}

/**
 * Returns the published image if the key has signed it or if it equals the local build except for annotations.
 * Otherwise, the local build replaces it despite equal content, because other software may read its layers differently.
 */
export async function ensureSignableImage(
  { publisher, registry, key }: ImageAttestationContext,
  published: ImagePublishResult,
  built: () => Promise<BuiltCatalogImage>,
  target: ImagePublishTarget,
): Promise<ImagePublishResult> {
  if (!key || !published.unchanged || target.dryRun === true) return published
  const at = { ...parseImageReferenceOrThrow(target.repository), digest: published.digest }
  if (await isImageSignedAndAttested(registry, await fetchArtifactSubject(registry, at), key))
    return published
  const image = published.image ?? (await built())
  if (await isSameImageExceptAnnotations(registry, at, image)) return { ...published, image }
  return publisher.push(image, { ...target, evenIfUnchanged: true })
}

export interface AttestationRequest {
  readonly repository: string
  readonly digest: string
  /** Called only if an attachment is missing, because it may have to read the image. */
  readonly loadBuild: () => Promise<{
    readonly listed: readonly CatalogBundleSummary[]
    readonly build: ImageBuildRecord
  }>
}

/** Attaches only what is missing. Returns true if it attached anything. */
export async function attestImage(
  { publisher, registry, key, signPlatforms }: ImageAttestationContext,
  { repository, digest, loadBuild }: AttestationRequest,
): Promise<boolean> {
  const image = await fetchArtifactSubject(registry, { ...parseImageReferenceOrThrow(repository), digest })
  const isAttested = key !== undefined && (await isImageSignedAndAttested(registry, image, key))
  if (!key) {
    const types = new Set(
      (await publisher.attached(repository, digest)).map(({ artifactType }) => artifactType),
    )
    if (types.has(sbomMediaType) && types.has(inTotoMediaType)) return false
  }
  // An attested index lists its platforms, so only their signatures can be missing.
  const attachments =
    key && isAttested
      ? await createMissingSignatureAttachments(registry, image, key, signPlatforms)
      : await createProvenanceAttachments(registry, {
          image,
          ...(await loadBuild()),
          ...(key && { key }),
          signPlatforms,
        })
  if (attachments.length === 0) return false
  for (const attachment of attachments) await publisher.attach(attachment)
  // A registry may accept a signature but not return it.
  if (key && (await createMissingSignatureAttachments(registry, image, key, signPlatforms)).length > 0)
    throw new RegistryError('server', `${image.host} does not return the signature of ${digest}`)
  return true
}

/** Compares documents byte for byte, ignoring annotations. */
async function isSameImageExceptAnnotations(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  at: ReturnType<typeof parseImageReferenceOrThrow> & { readonly digest: string },
  image: BuiltCatalogImage,
): Promise<boolean> {
  if (image.digest === at.digest) return true
  const top = await registry.fetchManifest(at)
  const ours = image.manifests.map(({ bytes }) => stripAnnotations(bytes))
  if (top.manifest.kind === 'image') return ours.length === 1 && ours[0] === stripAnnotations(top.bytes)
  const { manifests } = top.manifest
  if (manifests.length + 1 !== ours.length) return false
  const { host, repository } = at
  const theirs = await Promise.all(
    manifests.map(async ({ digest }) => {
      const { bytes } = await registry.fetchManifest({ host, repository, digest })
      return stripAnnotations(bytes)
    }),
  )
  return [...theirs, stripAnnotations(top.bytes)].every((text, index) => text === ours[index])
}

/** Drops image digests from an index, because annotations change them. The images are compared separately. */
function stripAnnotations(bytes: Uint8Array): string {
  const { annotations: _, ...document } = JSON.parse(new TextDecoder().decode(bytes)) as OciJsonDocument
  if (!Array.isArray(document['manifests'])) return JSON.stringify(document)
  const manifests = (document['manifests'] as readonly OciJsonDocument[]).map(
    ({ digest: _digest, size: _size, ...entry }) => entry,
  )
  return JSON.stringify({ ...document, manifests })
}

/**
 * Builds all attachments of a published image: SBOM, provenance, and, with a key, the signatures. Reads the registry
 * but does not push. In attachment order. The signature is last, so that a signed image has all its attachments.
 */
export async function createProvenanceAttachments(
  registry: ProvenanceReader,
  { image, listed, build, key, signPlatforms }: ProvenanceOptions,
): Promise<readonly ImageAttachment[]> {
  const signed: SignedImage = { repository: formatRepositoryName(image), digest: image.digest }
  const bill = createSbomAttachment(image, createImageSbom(signed, listed, build.version))
  const statement = createProvenanceStatement(signed, build)
  if (!key) return [bill, createProvenanceAttachment(image, statement)]
  const attestations = await fetchCosignLayers(registry, image, 'att')
  const isAttested = await isImageAttestedByKey(registry, image, attestations, key)
  return [
    bill,
    ...(isAttested
      ? []
      : [createAttestationAttachment(image, createSignedEnvelope(statement, key), attestations)]),
    ...(await createMissingSignatureAttachments(registry, image, key, signPlatforms)),
  ]
}

async function isImageSignedAndAttested(
  registry: ProvenanceReader,
  image: ArtifactSubject,
  key: SigningKey,
): Promise<boolean> {
  if ((await createImageSignatureIfMissing(registry, image, key)) !== undefined) return false
  return isImageAttestedByKey(registry, image, await fetchCosignLayers(registry, image, 'att'), key)
}

/** One attestation by the key is enough, because an image is built once even if it is published several times. */
async function isImageAttestedByKey(
  registry: ProvenanceReader,
  image: ArtifactSubject,
  layers: readonly ArtifactLayer[],
  { verifier }: SigningKey,
): Promise<boolean> {
  const signed = { repository: formatRepositoryName(image), digest: image.digest }
  for (const layer of layers)
    if ('provenance' in (await fetchAttestation(registry, image, layer, signed, verifier))) return true
  return false
}

/**
 * This key's missing signatures, first for each platform's manifest, as with `cosign sign --recursive`, then for the
 * image. Cluster policies may require a signature on the manifest that the node pulls.
 */
export async function createMissingSignatureAttachments(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ArtifactSubject,
  key: SigningKey,
  signPlatforms = true,
): Promise<readonly ImageAttachment[]> {
  const platforms = signPlatforms ? await fetchPlatformManifests(registry, image) : []
  const missing: ImageAttachment[] = []
  for (const one of [...platforms, image]) {
    const attachment = await createImageSignatureIfMissing(registry, one, key)
    if (attachment) missing.push(attachment)
  }
  return missing
}

/** Adds the image's signature to the existing ones. Undefined if this key has already signed. */
export async function createImageSignatureIfMissing(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ArtifactSubject,
  key: SigningKey,
): Promise<ImageAttachment | undefined> {
  const payload = createSigningPayload({ repository: formatRepositoryName(image), digest: image.digest })
  const present = await fetchCosignLayers(registry, image, 'sig')
  const digest = computeSha256Digest(payload)
  const isSigned = present.some((layer) => {
    const signature = decodeBase64(layer.annotations?.[cosignSignatureAnnotation] ?? '')
    return (
      layer.digest === digest && typeof signature !== 'number' && key.verifier.verifies(payload, signature)
    )
  })
  return isSigned ? undefined : createSignatureAttachment(image, payload, key.sign(payload), present)
}
