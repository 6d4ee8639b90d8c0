// `catalog-bot verify`: checks signatures and provenance. Stricter than `cosign verify --key` and `cosign
// verify-attestation --key`: a signature counts for one repository only.
import type { ImageReference } from '../../go/reference/image-reference.ts'
import { decodeBase64 } from '../../go/base64.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { platformsOf, repositoryName, signatureAnnotation, type ArtifactLayer } from './artifacts.ts'
import { envelopeType, openEnvelope } from './envelope.ts'
import { payloadProblem, simpleSigningType, type SignedImage } from './simple-signing.ts'
import { payloadOf, signedLayers } from './signed-layers.ts'
import type { VerifyingKey } from './signing-key.ts'
import { readProvenance, type Provenance } from './statement.ts'

export interface Verification {
  readonly digest: string
  readonly signatures: number
  /** Why each rejected signature does not count. */
  readonly refused: readonly string[]
  /** For each manifest below an index, which nodes pull by digest; empty unless requested. */
  readonly platforms: readonly PlatformVerification[]
  /** From attestations by the key. */
  readonly provenance: readonly Provenance[]
  readonly refusedAttestations: readonly string[]
}

type PlatformVerification = Pick<Verification, 'digest' | 'signatures' | 'refused'> & {
  /** `linux/arm64`; '' if the index has none. */
  readonly platform: string
}

export interface VerifyOptions {
  /** The repository in the signature. Default: the image's own; set it for a mirror. */
  readonly signedAs?: string
  /** Whether to check the manifests below an index too. Default: true. */
  readonly recursive?: boolean
}

type Reader = Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>

/** A payload has some 300 bytes, a statement a few thousand. */
const longestPayload = 1024 * 1024
const longestEnvelope = 16 * 1024 * 1024

/** Rejects with a RegistryError if something cannot be read, which says nothing about the image. */
export async function verifyImage(
  registry: Reader,
  reference: ImageReference,
  key: VerifyingKey,
  { signedAs, recursive = true }: VerifyOptions = {},
): Promise<Verification> {
  // Pins the tag's current digest.
  const { digest } = await registry.fetchManifest(reference)
  const { host, repository } = reference
  const at = { host, repository, digest }
  const image: SignedImage = { repository: signedAs ?? repositoryName(at), digest }
  const { signatures, refused } = await readSignatures(registry, at, image, key)
  const platforms: PlatformVerification[] = []
  for (const below of recursive ? await platformsOf(registry, at) : []) {
    const { os, architecture, variant } = below.platform ?? {}
    platforms.push({
      digest: below.digest,
      platform: [os, architecture, variant].filter(Boolean).join('/'),
      ...(await readSignatures(registry, below, { ...image, digest: below.digest }, key)),
    })
  }
  const provenance: Provenance[] = []
  const refusedAttestations: string[] = []
  for (const layer of await signedLayers(registry, at, 'att')) {
    const read = await readAttestation(registry, at, layer, image, key)
    if ('provenance' in read) provenance.push(read.provenance)
    else refusedAttestations.push(read.problem)
  }
  return { digest, signatures, refused, platforms, provenance, refusedAttestations }
}

async function readSignatures(
  registry: Reader,
  at: ImageReference & { readonly digest: string },
  image: SignedImage,
  key: VerifyingKey,
): Promise<Pick<Verification, 'signatures' | 'refused'>> {
  const layers = await signedLayers(registry, at, 'sig')
  const problems: (string | undefined)[] = []
  for (const layer of layers) problems.push(await signatureProblem(registry, at, layer, image, key))
  const refused = problems.filter((problem) => problem !== undefined)
  return { signatures: layers.length - refused.length, refused }
}

/** cosign rejects bad certificates even with a key, so this accepts none. */
const certificateAnnotations = ['dev.sigstore.cosign/certificate', 'dev.sigstore.cosign/chain']

function layerProblem(layer: ArtifactLayer, mediaType: string, longest: number): string | undefined {
  if (layer.mediaType !== mediaType) return `its media type is ${layer.mediaType}`
  if (layer.size > longest) return `it has more than ${longest} bytes`
  if (certificateAnnotations.some((name) => (layer.annotations?.[name] ?? '') !== ''))
    return 'it is signed with a certificate'
  return undefined
}

async function signatureProblem(
  registry: Reader,
  at: ImageReference,
  layer: ArtifactLayer,
  image: SignedImage,
  key: VerifyingKey,
): Promise<string | undefined> {
  const problem = layerProblem(layer, simpleSigningType, longestPayload)
  if (problem !== undefined) return problem
  const signature = decodeBase64(layer.annotations?.[signatureAnnotation] ?? '')
  if (typeof signature === 'number' || signature.length === 0) return 'it has no signature'
  const payload = await payloadOf(registry, at, layer)
  if ('problem' in payload) return payload.problem
  if (!key.verifies(payload, signature)) return 'it is not by this key'
  return payloadProblem(payload, image)
}

/** The attestation's provenance for the image, or the reason for rejecting it. */
export async function readAttestation(
  registry: Reader,
  at: ImageReference,
  layer: ArtifactLayer,
  image: SignedImage,
  key: VerifyingKey,
): Promise<{ readonly provenance: Provenance } | { readonly problem: string }> {
  const problem = layerProblem(layer, envelopeType, longestEnvelope)
  if (problem !== undefined) return { problem }
  const envelope = await payloadOf(registry, at, layer)
  if ('problem' in envelope) return envelope
  const opened = openEnvelope(envelope, key)
  return 'problem' in opened ? opened : readProvenance(opened.statement, image)
}
