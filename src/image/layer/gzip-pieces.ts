// Compresses an archive in parallel, and repeated pieces once. Parts are byte-aligned and independent, so they can be
// concatenated (RFC 1951, section 3.2.4; RFC 1952). The output depends only on the pieces and Node's zlib.
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib'
import { forEachPiece, joinedPieces, lengthOf, type Piece } from '../../go/tar/pieces.ts'

/**
 * Sharing shorter pieces costs more than compressing them again, because parts cannot refer to each other. (8192 made
 * layers of public catalogs 40% larger and took three times as long in the waiting thread.)
 */
const worthSharing = 65_536
/** Keeps all processors busy at almost no cost in size. */
const partSize = 512 * 1024
/** Shorter parts are compressed inline: a thread handoff costs as much. */
const worthAThread = 65_536

/** The fastest level: a catalog's cache is largely base64 images, which higher levels hardly shrink. */
const options: ZlibOptions = { level: 1, finishFlush: constants.Z_SYNC_FLUSH }
const inThread = promisify<Uint8Array, ZlibOptions, Uint8Array>(deflateRaw)

/** No name, time or system, which could differ between machines. */
const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
/** A last block without content. */
const lastBlock = Uint8Array.of(0x03, 0x00)

type Parts = readonly Promise<Uint8Array>[]

export async function gzipPieces(pieces: readonly Piece[]): Promise<Buffer> {
  const counts = new Map<Piece, number>()
  for (const piece of pieces) count(piece, counts)
  const parts = partsOf(pieces, counts, new Map())
  let crc = 0
  let size = 0
  forEachPiece(pieces, (bytes) => {
    crc = crc32(bytes, crc)
    size += bytes.length
  })
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(size % 2 ** 32, 4)
  return Buffer.concat([header, ...(await Promise.all(parts)), lastBlock, trailer])
}

function count(piece: Piece, counts: Map<Piece, number>): void {
  const known = counts.get(piece) ?? 0
  counts.set(piece, known + 1)
  if (known === 0 && !(piece instanceof Uint8Array)) for (const part of piece) count(part, counts)
}

function partsOf(
  pieces: readonly Piece[],
  counts: ReadonlyMap<Piece, number>,
  shared: Map<Piece, Parts>,
): Parts {
  const parts: Promise<Uint8Array>[] = []
  let run: Uint8Array[] = []
  let length = 0
  const endRun = () => {
    if (length > 0) parts.push(deflated(run.length === 1 ? (run[0] as Uint8Array) : joinedPieces(run)))
    run = []
    length = 0
  }
  const add = (bytes: Uint8Array) => {
    for (let rest = bytes; rest.length > 0;) {
      const taken = rest.subarray(0, partSize - length)
      run.push(taken)
      length += taken.length
      rest = rest.subarray(taken.length)
      if (length === partSize) endRun()
    }
  }
  const put = (piece: Piece): void => {
    if ((counts.get(piece) ?? 0) > 1 && lengthOf(piece) >= worthSharing) {
      endRun()
      let own = shared.get(piece)
      if (!own) {
        own = piece instanceof Uint8Array ? [deflated(piece)] : partsOf(piece, counts, shared)
        shared.set(piece, own)
      }
      parts.push(...own)
    } else if (piece instanceof Uint8Array) add(piece)
    else for (const part of piece) put(part)
  }
  for (const piece of pieces) put(piece)
  endRun()
  return parts
}

async function deflated(bytes: Uint8Array): Promise<Uint8Array> {
  return bytes.length < worthAThread ? deflateRawSync(bytes, options) : inThread(bytes, options)
}
