import { createHash } from 'node:crypto'
import {
  forEachByteChunk,
  joinByteChunks,
  getByteChunkTreeLength,
  type ByteChunkTree,
} from '@catalog-bot/fbc/go/tar/tar-tree'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib'
import type { CatalogImageFile, CatalogLayerSummary } from '../catalog-publisher.ts'
import { createCatalogLayerContent } from './catalog-content.ts'

/**
 * Sharing shorter pieces costs more than compressing them again, because parts cannot refer to each other. With 8192,
 * layers of public catalogs were 40% larger and took three times as long in the waiting thread.
 */
const minSharedDeflateBytes = 65_536

/** Uses all processors with almost no increase in size. */
const deflateInputBlockBytes = 512 * 1024

/** Shorter parts are compressed inline, because a thread handoff costs as much. */
const minThreadedDeflateBytes = 65_536

/** The fastest level. A catalog's cache is mostly base64 images, which higher levels hardly reduce. */
const deflateOptions: ZlibOptions = { level: 1, finishFlush: constants.Z_SYNC_FLUSH }

const deflateRawAsync = promisify<Uint8Array, ZlibOptions, Uint8Array>(deflateRaw)

/** Omits the name, time, and operating system, which could differ between machines. */
const gzipHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

/** A last block without content. */
const finalDeflateBlock = Uint8Array.of(0x03, 0x00)

type PendingDeflatedBlocks = readonly Promise<Uint8Array>[]

export interface PackLayerRequest {
  readonly files: readonly CatalogImageFile[]
  readonly cache: boolean
  readonly compression: 'gzip' | 'none'
  /** Diff IDs of the layers whose bytes the caller already has. */
  readonly unlessDiffId: readonly string[]
}

/** Without bytes if the caller already has them. */
export interface PackedCatalogLayer {
  readonly summary: Omit<CatalogLayerSummary, 'digest' | 'size'>
  readonly packed?: { readonly bytes: Uint8Array; readonly digest: string }
}

export async function packLayer(order: PackLayerRequest): Promise<PackedCatalogLayer> {
  const { archive, ...content } = createCatalogLayerContent(order.files, order.cache)
  // Starts first, because other threads do the compression.
  const compressed =
    order.compression === 'gzip' && order.unlessDiffId.length === 0 ? gzipByteChunks(archive) : undefined
  const hash = createHash('sha256')
  let uncompressed = 0
  forEachByteChunk(archive, (piece) => {
    hash.update(piece)
    uncompressed += piece.length
  })
  const diffId = `sha256:${hash.digest('hex')}`
  const summary = { ...content, diffId, uncompressed }
  if (order.unlessDiffId.includes(diffId)) return { summary }
  if (order.compression === 'none')
    return { summary, packed: { bytes: joinByteChunks(archive), digest: diffId } }
  const bytes = await (compressed ?? gzipByteChunks(archive))
  return {
    summary,
    packed: { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` },
  }
}

/** Compresses an archive in parallel, and repeated pieces only once. Parts are byte-aligned and independent, so they can be concatenated (RFC 1951, section 3.2.4; RFC 1952). The output depends only on the pieces and Node's zlib. */
export async function gzipByteChunks(pieces: readonly ByteChunkTree[]): Promise<Buffer> {
  const counts = new Map<ByteChunkTree, number>()
  for (const piece of pieces) countByteChunkUses(piece, counts)
  const parts = deflateByteChunks(pieces, counts, new Map())
  let crc = 0
  let size = 0
  forEachByteChunk(pieces, (bytes) => {
    crc = crc32(bytes, crc)
    size += bytes.length
  })
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(size % 2 ** 32, 4)
  return Buffer.concat([gzipHeader, ...(await Promise.all(parts)), finalDeflateBlock, trailer])
}

function countByteChunkUses(piece: ByteChunkTree, counts: Map<ByteChunkTree, number>): void {
  const known = counts.get(piece) ?? 0
  counts.set(piece, known + 1)
  if (known === 0 && !(piece instanceof Uint8Array))
    for (const part of piece) countByteChunkUses(part, counts)
}

function deflateByteChunks(
  pieces: readonly ByteChunkTree[],
  counts: ReadonlyMap<ByteChunkTree, number>,
  shared: Map<ByteChunkTree, PendingDeflatedBlocks>,
): PendingDeflatedBlocks {
  const parts: Promise<Uint8Array>[] = []
  let run: Uint8Array[] = []
  let length = 0
  const flushRun = () => {
    if (length > 0) parts.push(deflateBytes(run.length === 1 ? (run[0] as Uint8Array) : joinByteChunks(run)))
    run = []
    length = 0
  }
  const appendBytes = (bytes: Uint8Array) => {
    for (let rest = bytes; rest.length > 0;) {
      const taken = rest.subarray(0, deflateInputBlockBytes - length)
      run.push(taken)
      length += taken.length
      rest = rest.subarray(taken.length)
      if (length === deflateInputBlockBytes) flushRun()
    }
  }
  const appendPiece = (piece: ByteChunkTree): void => {
    if ((counts.get(piece) ?? 0) > 1 && getByteChunkTreeLength(piece) >= minSharedDeflateBytes) {
      flushRun()
      let own = shared.get(piece)
      if (!own) {
        own = piece instanceof Uint8Array ? [deflateBytes(piece)] : deflateByteChunks(piece, counts, shared)
        shared.set(piece, own)
      }
      parts.push(...own)
    } else if (piece instanceof Uint8Array) appendBytes(piece)
    else for (const part of piece) appendPiece(part)
  }
  for (const piece of pieces) appendPiece(piece)
  flushRun()
  return parts
}

async function deflateBytes(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length < minThreadedDeflateBytes
    ? deflateRawSync(bytes, deflateOptions)
    : deflateRawAsync(bytes, deflateOptions)
}
