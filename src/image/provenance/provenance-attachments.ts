// Builds everything to attach to a published image: bill of images, provenance, and with a key the signatures. Reads
// the registry; pushes nothing.
import { decodeBase64 } from '../../go/base64.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import type { Attachment } from '../catalog-publisher.ts'
import {
  attestationAttachment,
  billAttachment,
  platformsOf,
  provenanceAttachment,
  repositoryName,
  sha256Of,
  signatureAnnotation,
  signatureAttachment,
  type ArtifactLayer,
  type Subject,
} from './artifacts.ts'
import { billOfImages } from './bill-of-images.ts'
import { signedEnvelope } from './envelope.ts'
import type { ListedBundle } from './listed-bundles.ts'
import { signedPayload, type SignedImage } from './simple-signing.ts'
import { signedLayers } from './signed-layers.ts'
import type { SigningKey } from './signing-key.ts'
import { provenanceStatement, type BuildRecord } from './statement.ts'
import { readAttestation } from './verify-image.ts'

export interface ProvenanceOrder {
  readonly image: Subject
  readonly listed: readonly ListedBundle[]
  readonly build: BuildRecord
  /** Default: no signatures. */
  readonly key?: SigningKey
  /** Default: true. */
  readonly signPlatforms?: boolean | undefined
}

type Reader = Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>

/** In attachment order. The signature is last, so that what is signed is complete. */
export async function provenanceAttachments(
  registry: Reader,
  { image, listed, build, key, signPlatforms }: ProvenanceOrder,
): Promise<readonly Attachment[]> {
  const signed: SignedImage = { repository: repositoryName(image), digest: image.digest }
  const bill = billAttachment(image, billOfImages(signed, listed, build.version))
  const statement = provenanceStatement(signed, build)
  if (!key) return [bill, provenanceAttachment(image, statement)]
  const attestations = await signedLayers(registry, image, 'att')
  const isAttested = await isAttestedBy(registry, image, attestations, key)
  return [
    bill,
    ...(isAttested ? [] : [attestationAttachment(image, signedEnvelope(statement, key), attestations)]),
    ...(await signaturesFor(registry, image, key, signPlatforms)),
  ]
}

export async function isVouchedFor(registry: Reader, image: Subject, key: SigningKey): Promise<boolean> {
  if ((await signatureFor(registry, image, key)) !== undefined) return false
  return isAttestedBy(registry, image, await signedLayers(registry, image, 'att'), key)
}

/** One attestation by the key per image is enough: the image was built once, however often it is published. */
async function isAttestedBy(
  registry: Reader,
  image: Subject,
  layers: readonly ArtifactLayer[],
  { verifier }: SigningKey,
): Promise<boolean> {
  const signed = { repository: repositoryName(image), digest: image.digest }
  for (const layer of layers)
    if ('provenance' in (await readAttestation(registry, image, layer, signed, verifier))) return true
  return false
}

/**
 * This key's missing signatures: each platform's manifest, as with `cosign sign --recursive`, then the image. Cluster
 * policies may require the one for the manifest that the node pulls.
 */
export async function signaturesFor(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: Subject,
  key: SigningKey,
  signPlatforms = true,
): Promise<readonly Attachment[]> {
  const platforms = signPlatforms ? await platformsOf(registry, image) : []
  const missing: Attachment[] = []
  for (const one of [...platforms, image]) {
    const attachment = await signatureFor(registry, one, key)
    if (attachment) missing.push(attachment)
  }
  return missing
}

/** Adds the image's signature to the existing ones; undefined if this key has signed already. */
export async function signatureFor(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: Subject,
  key: SigningKey,
): Promise<Attachment | undefined> {
  const payload = signedPayload({ repository: repositoryName(image), digest: image.digest })
  const present = await signedLayers(registry, image, 'sig')
  const digest = sha256Of(payload)
  const isSigned = present.some((layer) => {
    const signature = decodeBase64(layer.annotations?.[signatureAnnotation] ?? '')
    return (
      layer.digest === digest && typeof signature !== 'number' && key.verifier.verifies(payload, signature)
    )
  })
  return isSigned ? undefined : signatureAttachment(image, payload, key.sign(payload), present)
}
