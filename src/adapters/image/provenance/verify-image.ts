// `catalog-bot verify` checks signatures and provenance. It is stricter than `cosign verify --key` and `cosign
// verify-attestation --key`, because a signature counts for one repository only.
import { z } from 'zod'
import type { ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import type { RegistryClient } from '../../registry/registry-client.ts'
import {
  fetchPlatformManifests,
  formatRepositoryName,
  cosignSignatureAnnotation,
  type ArtifactLayer,
  formatCosignTag,
} from './provenance-artifacts.ts'
import {
  dsseEnvelopeMediaType,
  verifyEnvelope,
  findSigningPayloadProblem,
  simpleSigningMediaType,
  type SignedImage,
} from './signature-formats.ts'
import type { VerifyingKey } from './signing-key.ts'
import { parseProvenance, type ImageProvenance } from './provenance-statement.ts'
import { catchMissing, RegistryError } from '../../registry/registry-error.ts'
import { goObject, parseStrictJson } from '../../registry/strict-json.ts'

/** cosign's own limit. */
const maxCosignLayers = 1000

/** The total size of all payloads. A hundred signatures and attestations take about a megabyte. */
const maxTotalCosignPayloadBytes = 64 * 1024 * 1024

const cosignLayersSchema = goObject({
  layers: z.array(
    goObject({
      mediaType: z.string(),
      digest: z.string(),
      size: z.int(),
      annotations: z.record(z.string(), z.string()),
    }),
  ),
})

/** Failures that concern one layer only. */
const cosignLayerErrorCodes: ReadonlySet<string> = new Set([
  'missing',
  'digest-mismatch',
  'too-large',
  'unsupported',
])

export interface ImageVerification {
  readonly digest: string
  readonly signatures: number
  /** The reason for rejecting each invalid signature. */
  readonly refused: readonly string[]
  /** One entry for each manifest below an index, which nodes pull by digest. Empty unless requested. */
  readonly platforms: readonly PlatformVerification[]
  /** The provenance from attestations by the key. */
  readonly provenance: readonly ImageProvenance[]
  readonly refusedAttestations: readonly string[]
}

type PlatformVerification = Pick<ImageVerification, 'digest' | 'signatures' | 'refused'> & {
  /** `linux/arm64`. Empty if the index declares no platform. */
  readonly platform: string
}

export interface VerifyImageOptions {
  /** The repository in the signature. Default: the image's own repository. Set it for a mirror. */
  readonly signedAs?: string
  /** Whether to also check the manifests below an index. Default: true. */
  readonly recursive?: boolean
}

type ProvenanceReader = Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>

/** A payload has about 300 bytes, and a statement a few thousand. */
const maxSignaturePayloadBytes = 1024 * 1024
const maxDsseEnvelopeBytes = 16 * 1024 * 1024

/** Rejects with a RegistryError if something cannot be read, which says nothing about the image. */
export async function verifyImage(
  registry: ProvenanceReader,
  reference: ImageReference,
  key: VerifyingKey,
  { signedAs, recursive = true }: VerifyImageOptions = {},
): Promise<ImageVerification> {
  // Pins the tag's current digest.
  const { digest } = await registry.fetchManifest(reference)
  const { host, repository } = reference
  const at = { host, repository, digest }
  const image: SignedImage = { repository: signedAs ?? formatRepositoryName(at), digest }
  const { signatures, refused } = await verifySignatures(registry, at, image, key)
  const platforms: PlatformVerification[] = []
  for (const below of recursive ? await fetchPlatformManifests(registry, at) : []) {
    const { os, architecture, variant } = below.platform ?? {}
    platforms.push({
      digest: below.digest,
      platform: [os, architecture, variant].filter(Boolean).join('/'),
      ...(await verifySignatures(registry, below, { ...image, digest: below.digest }, key)),
    })
  }
  const provenance: ImageProvenance[] = []
  const rejectedAttestations: string[] = []
  for (const layer of await fetchCosignLayers(registry, at, 'att')) {
    const read = await fetchAttestation(registry, at, layer, image, key)
    if ('provenance' in read) provenance.push(read.provenance)
    else rejectedAttestations.push(read.problem)
  }
  return { digest, signatures, refused, platforms, provenance, refusedAttestations: rejectedAttestations }
}

async function verifySignatures(
  registry: ProvenanceReader,
  at: ImageReference & { readonly digest: string },
  image: SignedImage,
  key: VerifyingKey,
): Promise<Pick<ImageVerification, 'signatures' | 'refused'>> {
  const layers = await fetchCosignLayers(registry, at, 'sig')
  const problems: (string | undefined)[] = []
  for (const layer of layers) problems.push(await findSignatureProblem(registry, at, layer, image, key))
  const rejected = problems.filter((problem) => problem !== undefined)
  return { signatures: layers.length - rejected.length, refused: rejected }
}

/** cosign rejects invalid certificates even with a key, so signatures with certificates are not accepted. */
const cosignCertificateAnnotations = ['dev.sigstore.cosign/certificate', 'dev.sigstore.cosign/chain']

function findCosignLayerProblem(
  layer: ArtifactLayer,
  mediaType: string,
  maxBytes: number,
): string | undefined {
  if (layer.mediaType !== mediaType) return `the media type ${layer.mediaType} is unexpected`
  if (layer.size > maxBytes) return `the payload is larger than ${maxBytes} bytes`
  if (cosignCertificateAnnotations.some((name) => (layer.annotations?.[name] ?? '') !== ''))
    return 'catalog-bot does not accept signatures with certificates'
  return undefined
}

async function findSignatureProblem(
  registry: ProvenanceReader,
  at: ImageReference,
  layer: ArtifactLayer,
  image: SignedImage,
  key: VerifyingKey,
): Promise<string | undefined> {
  const problem = findCosignLayerProblem(layer, simpleSigningMediaType, maxSignaturePayloadBytes)
  if (problem !== undefined) return problem
  const signature = decodeBase64(layer.annotations?.[cosignSignatureAnnotation] ?? '')
  if (typeof signature === 'number' || signature.length === 0) return 'the signature is missing'
  const payload = await fetchCosignLayerPayload(registry, at, layer)
  if ('problem' in payload) return payload.problem
  if (!key.verifies(payload, signature)) return 'the signature cannot be verified with this key'
  return findSigningPayloadProblem(payload, image)
}

/** The attestation's provenance for the image, or the reason for rejecting it. */
export async function fetchAttestation(
  registry: ProvenanceReader,
  at: ImageReference,
  layer: ArtifactLayer,
  image: SignedImage,
  key: VerifyingKey,
): Promise<{ readonly provenance: ImageProvenance } | { readonly problem: string }> {
  const problem = findCosignLayerProblem(layer, dsseEnvelopeMediaType, maxDsseEnvelopeBytes)
  if (problem !== undefined) return { problem }
  const envelope = await fetchCosignLayerPayload(registry, at, layer)
  if ('problem' in envelope) return envelope
  const opened = verifyEnvelope(envelope, key)
  return 'problem' in opened ? opened : parseProvenance(opened.statement, image)
}

/** Reads the layers of an image's cosign tags, within limits. Callers verify the content. */
export async function fetchCosignLayers(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ImageReference & { readonly digest: string },
  kind: 'sig' | 'att',
): Promise<readonly ArtifactLayer[]> {
  const { host, repository, digest } = image
  const reference = { host, repository, tag: formatCosignTag(digest, kind) }
  const found = await catchMissing(registry.fetchManifest(reference))
  if (!found) return []
  if (found.manifest.kind !== 'image')
    throw new RegistryError(
      'unsupported',
      `the tag ${reference.tag} points to an index instead of signatures`,
    )
  // The manifest already passed the strict parser. Only the annotations are parsed here.
  const { layers = [] } = parseStrictJson(found.bytes, cosignLayersSchema) as {
    layers?: readonly ArtifactLayer[]
  }
  if (layers.length > maxCosignLayers)
    throw new RegistryError('unsupported', `the tag ${reference.tag} has more than ${maxCosignLayers} layers`)
  if (layers.reduce((sum, { size }) => sum + size, 0) > maxTotalCosignPayloadBytes)
    throw new RegistryError(
      'unsupported',
      `the layers of the tag ${reference.tag} total more than ${maxTotalCosignPayloadBytes} bytes`,
    )
  return layers
}

/** A layer's payload, or the reason why it is unavailable. A manifest may list a layer that does not exist. */
async function fetchCosignLayerPayload(
  registry: Pick<RegistryClient, 'fetchBlob'>,
  at: ImageReference,
  layer: ArtifactLayer,
): Promise<Uint8Array | { readonly problem: string }> {
  try {
    return await registry.fetchBlob(at, layer)
  } catch (error) {
    if (!(error instanceof RegistryError) || !cosignLayerErrorCodes.has(error.code)) throw error
    return { problem: `the payload is unavailable: ${error.message}` }
  }
}
