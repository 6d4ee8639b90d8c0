// Builds all attachments of a published image: SBOM, provenance, and, with a key, the signatures. Reads the registry
// but does not push.
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import type { RegistryClient } from '../../registry/registry-client.ts'
import type { ImageAttachment } from '../catalog-publisher.ts'
import {
  createAttestationAttachment,
  createSbomAttachment,
  fetchPlatformManifests,
  createProvenanceAttachment,
  formatRepositoryName,
  computeSha256Digest,
  cosignSignatureAnnotation,
  createSignatureAttachment,
  type ArtifactLayer,
  type ArtifactSubject,
} from './provenance-artifacts.ts'
import { createImageSbom } from './image-sbom.ts'
import { createSignedEnvelope } from './dsse-envelope.ts'
import type { ListedBundle } from './listed-bundles.ts'
import { createSigningPayload, type SignedImage } from './simple-signing.ts'
import { fetchSignedLayers } from './signed-layers.ts'
import type { SigningKey } from './signing-key.ts'
import { createProvenanceStatement, type ImageBuildRecord } from './provenance-statement.ts'
import { fetchAttestation } from './verify-image.ts'

export interface ProvenanceOptions {
  readonly image: ArtifactSubject
  readonly listed: readonly ListedBundle[]
  readonly build: ImageBuildRecord
  /** Default: no signatures. */
  readonly key?: SigningKey
  /** Default: true. */
  readonly signPlatforms?: boolean | undefined
}

type ProvenanceReader = Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>

/** In attachment order. The signature is last, so that a signed image has all its attachments. */
export async function createProvenanceAttachments(
  registry: ProvenanceReader,
  { image, listed, build, key, signPlatforms }: ProvenanceOptions,
): Promise<readonly ImageAttachment[]> {
  const signed: SignedImage = { repository: formatRepositoryName(image), digest: image.digest }
  const bill = createSbomAttachment(image, createImageSbom(signed, listed, build.version))
  const statement = createProvenanceStatement(signed, build)
  if (!key) return [bill, createProvenanceAttachment(image, statement)]
  const attestations = await fetchSignedLayers(registry, image, 'att')
  const isAttested = await isImageAttestedByKey(registry, image, attestations, key)
  return [
    bill,
    ...(isAttested
      ? []
      : [createAttestationAttachment(image, createSignedEnvelope(statement, key), attestations)]),
    ...(await createMissingSignatureAttachments(registry, image, key, signPlatforms)),
  ]
}

export async function isImageSignedAndAttested(
  registry: ProvenanceReader,
  image: ArtifactSubject,
  key: SigningKey,
): Promise<boolean> {
  if ((await createMissingImageSignature(registry, image, key)) !== undefined) return false
  return isImageAttestedByKey(registry, image, await fetchSignedLayers(registry, image, 'att'), key)
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
    const attachment = await createMissingImageSignature(registry, one, key)
    if (attachment) missing.push(attachment)
  }
  return missing
}

/** Adds the image's signature to the existing ones. Undefined if this key has already signed. */
export async function createMissingImageSignature(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ArtifactSubject,
  key: SigningKey,
): Promise<ImageAttachment | undefined> {
  const payload = createSigningPayload({ repository: formatRepositoryName(image), digest: image.digest })
  const present = await fetchSignedLayers(registry, image, 'sig')
  const digest = computeSha256Digest(payload)
  const isSigned = present.some((layer) => {
    const signature = decodeBase64(layer.annotations?.[cosignSignatureAnnotation] ?? '')
    return (
      layer.digest === digest && typeof signature !== 'number' && key.verifier.verifies(payload, signature)
    )
  })
  return isSigned ? undefined : createSignatureAttachment(image, payload, key.sign(payload), present)
}
