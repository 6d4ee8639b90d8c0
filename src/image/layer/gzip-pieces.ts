// One gzip file of an archive in pieces: compressed in parallel, and a large piece that stands in it several times compressed
// once. Each part ends at a whole byte and refers to nothing before it, so that parts can be put one behind the other (RFC 1951,
// section 3.2.4; RFC 1952). What comes out depends on the pieces and on Node's zlib alone, never on the machine's load.
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib'

/** Shorter ones cost more to keep apart than to compress again. */
const worthSharing = 4096
/** Parts of this size keep all processors busy, and lose next to nothing for beginning anew. */
const partSize = 512 * 1024
/** Shorter parts are compressed at once: handing them to another thread takes longer. */
const worthAThread = 16 * 1024

const options: ZlibOptions = { level: 6, finishFlush: constants.Z_SYNC_FLUSH }
const inThread = promisify<Uint8Array, ZlibOptions, Uint8Array>(deflateRaw)

/** No name, no time, no system: bytes that could differ from machine to machine. */
const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
/** A last block without content. */
const lastBlock = Uint8Array.of(0x03, 0x00)

export async function gzipPieces(pieces: readonly Uint8Array[]): Promise<Buffer> {
  const counts = new Map<Uint8Array, number>()
  for (const piece of pieces)
    if (piece.length >= worthSharing) counts.set(piece, (counts.get(piece) ?? 0) + 1)
  const shared = new Map<Uint8Array, Promise<Uint8Array> | Uint8Array>()
  const parts: (Promise<Uint8Array> | Uint8Array)[] = []
  let run: Uint8Array[] = []
  let length = 0
  const endRun = () => {
    if (length > 0)
      parts.push(deflated(run.length === 1 ? (run[0] as Uint8Array) : Buffer.concat(run, length)))
    run = []
    length = 0
  }
  let crc = 0
  let size = 0
  for (const piece of pieces) {
    crc = crc32(piece, crc)
    size += piece.length
    if ((counts.get(piece) ?? 0) > 1) {
      endRun()
      let part = shared.get(piece)
      if (!part) shared.set(piece, (part = deflated(piece)))
      parts.push(part)
      continue
    }
    for (let rest = piece; rest.length > 0;) {
      const taken = rest.subarray(0, partSize - length)
      run.push(taken)
      length += taken.length
      rest = rest.subarray(taken.length)
      if (length === partSize) endRun()
    }
  }
  endRun()
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(size % 2 ** 32, 4)
  return Buffer.concat([header, ...(await Promise.all(parts)), lastBlock, trailer])
}

function deflated(bytes: Uint8Array): Promise<Uint8Array> | Uint8Array {
  return bytes.length < worthAThread ? deflateRawSync(bytes, options) : inThread(bytes, options)
}
