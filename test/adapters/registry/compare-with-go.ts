// Compares how we and Go read an image or a document. We must either reject it or read the same.
import { isDeepStrictEqual } from 'node:util'
import { createHash } from 'node:crypto'
import {
  manifestMediaTypes,
  parseImageConfig,
  parseManifest,
  type Descriptor,
  type Platform,
} from '../../../src/adapters/registry/manifest.ts'
import { RegistryError } from '../../../src/adapters/registry/registry-error.ts'
import { unpackLayers } from '../../../src/adapters/registry/unpack/unpack-layers.ts'
import type { GoImageReaders } from '../../go-readers/go-readers.ts'
import { packRandomLayer, type RandomLayer } from './random-archives.ts'
import type { RandomRegistryDocument } from './random-documents.ts'

export interface GoReaderComparison {
  readonly refused: boolean
  /** The reason for the rejection, as text. */
  readonly reason?: string
  readonly difference?: string
}

export async function compareImageReaders(
  readers: GoImageReaders,
  image: readonly RandomLayer[],
): Promise<GoReaderComparison> {
  const layers = image.map(packRandomLayer)
  const ours = await captureReadOutcome(() =>
    unpackLayers(
      layers.map(({ archive, bytes }) => ({
        bytes,
        diffId: `sha256:${createHash('sha256').update(archive).digest('hex')}`,
      })),
      ['manifests', 'metadata'],
    ),
  )
  // An image that we reject need not be compared with Go.
  if ('refused' in ours) return ours
  const { error, files = {} } = await readers.unpack(layers.map(({ bytes }) => bytes))
  const read = Object.fromEntries(
    [...ours.value].map(([path, bytes]) => [path, Buffer.from(bytes).toString('base64')]),
  )
  return compareReadResultWithGo(read, error, files)
}

export async function compareRegistryDocumentReaders(
  readers: GoImageReaders,
  { kind, body }: RandomRegistryDocument,
): Promise<GoReaderComparison> {
  const ours = await captureReadOutcome(() => Promise.resolve(parseRegistryDocument(kind, body)))
  if ('refused' in ours) return ours
  const { error, read } = await readers.read(kind, body)
  return compareReadResultWithGo(ours.value, error, omitMediaType(read))
}

function compareReadResultWithGo(
  ours: unknown,
  error: string | undefined,
  theirs: unknown,
): GoReaderComparison {
  if (error !== undefined)
    return { refused: false, difference: `Go does not read it (${error}), we do: ${JSON.stringify(ours)}` }
  if (isDeepStrictEqual(ours, theirs)) return { refused: false }
  return { refused: false, difference: `we read ${JSON.stringify(ours)}, Go reads ${JSON.stringify(theirs)}` }
}

type ReadOutcome<Value> = { readonly value: Value } | { readonly refused: true; readonly reason: string }

/** Counts only deliberate rejections as rejected, and rethrows other errors. */
async function captureReadOutcome<Value>(read: () => Promise<Value>): Promise<ReadOutcome<Value>> {
  try {
    return { value: await read() }
  } catch (error) {
    const isDefinite =
      error instanceof RegistryError && ['unsupported', 'bad-reply', 'digest-mismatch'].includes(error.code)
    if (!isDefinite) throw error
    return { refused: true, reason: error.message }
  }
}

function parseRegistryDocument(kind: RandomRegistryDocument['kind'], body: Uint8Array): unknown {
  if (kind === 'config') {
    const { labels, diffIds, platform } = parseImageConfig(body)
    return { labels, diffIds, platform: formatPlatform(platform) }
  }
  const read = parseManifest(
    body,
    kind === 'index' ? manifestMediaTypes.ociIndex : manifestMediaTypes.ociManifest,
  )
  return read.kind === 'index'
    ? { version: 2, manifests: read.manifests.map(formatDescriptor) }
    : { version: 2, config: formatDescriptor(read.config), layers: read.layers.map(formatDescriptor) }
}

/** A document without a media type gets it from the content type, so the comparison ignores it. */
function omitMediaType(read: unknown): unknown {
  const { mediaType: _, ...rest } = (read ?? {}) as Record<string, unknown>
  return rest
}

function formatDescriptor({
  mediaType,
  digest,
  size,
  platform,
}: Descriptor & { readonly platform?: Platform }) {
  return { digest, mediaType, platform: formatPlatform(platform), size }
}

function formatPlatform(platform: Platform | undefined): string {
  return platform ? `${platform.os}/${platform.architecture}/${platform.variant ?? ''}` : ''
}
