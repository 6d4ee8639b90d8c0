// What lies behind cosign's tags of an image: layers, each a payload with what is said about it. Reads and bounds; what
// it finds is judged by others.
import type { ImageReference } from '../../go/reference/image-reference.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import { parseStrictJson, type Shape } from '../../registry/strict-json.ts'
import { cosignTag, type ArtifactLayer } from './artifacts.ts'

/** cosign reads no more of them either. */
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

/** The layers behind the tag, in the order of the manifest; none where there is no such tag. */
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
  // The manifest was read before, and found to be one that all read alike: only the annotations are new here.
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

/** Failures that say something of a layer, and nothing of those beside it. */
const ofLayer: ReadonlySet<string> = new Set(['missing', 'digest-mismatch', 'too-large', 'unsupported'])

/** A layer's payload, or why there is none: whoever may push may name a layer that is not there. */
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
