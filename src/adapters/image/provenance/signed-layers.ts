// Reads the layers of an image's cosign tags, within limits. Callers verify the content.
import type { ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { RegistryError } from '../../registry/registry-error.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { parseStrictJson, type JsonShape } from '../../registry/strict-json.ts'
import { formatCosignTag, type ArtifactLayer } from './provenance-artifacts.ts'

/** cosign's own limit. */
const maxSignedLayers = 1000
/** The total size of all payloads. A hundred signatures and attestations take about a megabyte. */
const maxTotalSignedPayloadBytes = 64 * 1024 * 1024

const signedLayersShape: JsonShape = {
  fields: {
    layers: {
      list: {
        fields: {
          mediaType: 'string',
          digest: 'string',
          size: 'integer',
          annotations: { map: 'string' },
        },
      },
    },
  },
}

export async function fetchSignedLayers(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ImageReference & { readonly digest: string },
  kind: 'sig' | 'att',
): Promise<readonly ArtifactLayer[]> {
  const { host, repository, digest } = image
  const reference = { host, repository, tag: formatCosignTag(digest, kind) }
  let found
  try {
    found = await registry.fetchManifest(reference)
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'missing') return []
    throw error
  }
  if (found.manifest.kind !== 'image')
    throw new RegistryError(
      'unsupported',
      `the tag ${reference.tag} points to an index instead of signatures`,
    )
  // The manifest already passed the strict parser. Only the annotations are parsed here.
  const { layers = [] } = parseStrictJson(found.bytes, signedLayersShape) as {
    layers?: readonly ArtifactLayer[]
  }
  if (layers.length > maxSignedLayers)
    throw new RegistryError('unsupported', `the tag ${reference.tag} has more than ${maxSignedLayers} layers`)
  if (layers.reduce((sum, { size }) => sum + size, 0) > maxTotalSignedPayloadBytes)
    throw new RegistryError(
      'unsupported',
      `the layers of the tag ${reference.tag} total more than ${maxTotalSignedPayloadBytes} bytes`,
    )
  return layers
}

/** Failures that concern one layer only. */
const singleLayerErrorCodes: ReadonlySet<string> = new Set([
  'missing',
  'digest-mismatch',
  'too-large',
  'unsupported',
])

/** A layer's payload, or the reason why it is unavailable. A manifest may list a layer that does not exist. */
export async function fetchSignedLayerPayload(
  registry: Pick<RegistryClient, 'fetchBlob'>,
  at: ImageReference,
  layer: ArtifactLayer,
): Promise<Uint8Array | { readonly problem: string }> {
  try {
    return await registry.fetchBlob(at, layer)
  } catch (error) {
    if (!(error instanceof RegistryError) || !singleLayerErrorCodes.has(error.code)) throw error
    return { problem: `its payload is unavailable: ${error.message}` }
  }
}
