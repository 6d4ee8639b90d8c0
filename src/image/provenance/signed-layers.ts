// Reads the layers behind an image's cosign tags, within limits. Callers judge the content.
import type { ImageReference } from '../../go/reference/image-reference.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { parseStrictJson, type Shape } from '../../registry/strict-json.ts'
import { cosignTag, type ArtifactLayer } from './artifacts.ts'

/** cosign's own limit. */
const mostLayers = 1000
/** All payloads together; a hundred signatures and attestations have a megabyte. */
const mostBytes = 64 * 1024 * 1024

const layersShape: Shape = {
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

export async function signedLayers(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  image: ImageReference & { readonly digest: string },
  kind: 'sig' | 'att',
): Promise<readonly ArtifactLayer[]> {
  const { host, repository, digest } = image
  const reference = { host, repository, tag: cosignTag(digest, kind) }
  let found
  try {
    found = await registry.fetchManifest(reference)
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'missing') return []
    throw error
  }
  if (found.manifest.kind !== 'image')
    throw new RegistryError('unsupported', `what lies behind ${reference.tag} is an index, and no signatures`)
  // The manifest already passed the strict parser; only the annotations are new here.
  const { layers = [] } = parseStrictJson(found.bytes, layersShape) as { layers?: readonly ArtifactLayer[] }
  if (layers.length > mostLayers)
    throw new RegistryError('unsupported', `there are more than ${mostLayers} layers behind ${reference.tag}`)
  if (layers.reduce((sum, { size }) => sum + size, 0) > mostBytes)
    throw new RegistryError(
      'unsupported',
      `the layers behind ${reference.tag} have more than ${mostBytes} bytes`,
    )
  return layers
}

/** Failures that concern one layer only. */
const ofLayer: ReadonlySet<string> = new Set(['missing', 'digest-mismatch', 'too-large', 'unsupported'])

/** A layer's payload, or the reason why there is none: a manifest may name a layer that does not exist. */
export async function payloadOf(
  registry: Pick<RegistryClient, 'fetchBlob'>,
  at: ImageReference,
  layer: ArtifactLayer,
): Promise<Uint8Array | { readonly problem: string }> {
  try {
    return await registry.fetchBlob(at, layer)
  } catch (error) {
    if (!(error instanceof RegistryError) || !ofLayer.has(error.code)) throw error
    return { problem: `its payload cannot be had: ${error.message}` }
  }
}
