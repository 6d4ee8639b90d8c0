// Splits an archive into zstd frames (RFC 8878) or gzip members (RFC 1952), both valid ones and ones that readers
// interpret differently. Frames that no compressor writes are assembled manually.
import { constants, crc32, deflateRawSync, zstdCompressSync } from 'node:zlib'
import type { SeededRandom } from '../../packages/fbc/go/fast/mutated-documents.ts'

export type CompressionFormat = 'zstd' | 'gzip'

/** One frame or member. Some kinds contain no part of the archive. */
export interface CompressedFrame {
  readonly kind: 'compressed' | 'raw' | 'runs' | 'empty' | 'skippable' | 'bytes'
  /** zstd: the trailing checksum, the window size, and the declared content size. */
  readonly checksum?: 'right' | 'wrong' | 'missing'
  readonly window?: number
  readonly size?: 'right' | 'wrong'
  /** Additional bits to set in the first byte of the header. */
  readonly flags?: number
  readonly dictionary?: number
  /** gzip: the optional header fields, in the order of their flags. */
  readonly fields?: readonly ('extra' | 'name' | 'comment' | 'sum')[]
  readonly method?: number
  readonly bytes?: Uint8Array
}

export function createRandomCompressedFrames(
  random: SeededRandom,
  packing: CompressionFormat,
  isOdd: (share?: number) => boolean,
): CompressedFrame[] {
  const one = (): CompressedFrame =>
    packing === 'zstd' ? createRandomZstdFrame(random, isOdd) : createRandomGzipMember(random, isOdd)
  return Array.from({ length: 1 + random.below(3) }, one)
}

function createRandomZstdFrame(random: SeededRandom, isOdd: (share?: number) => boolean): CompressedFrame {
  return {
    kind: random.pick(
      isOdd()
        ? (['raw', 'runs', 'empty', 'skippable', 'skippable', 'bytes'] as const)
        : (['compressed', 'compressed', 'raw', 'runs'] as const),
    ),
    ...(random.below(3) === 0 && { checksum: isOdd() ? random.pick(['wrong', 'missing']) : 'right' }),
    ...(random.below(3) === 0 && { window: isOdd() ? random.pick([10, 11, 24, 27, 28, 31, 41]) : 17 }),
    ...(random.below(3) === 0 && { size: isOdd() ? 'wrong' : 'right' }),
    ...(isOdd(0.3) && { flags: random.pick([0x08, 0x10, 0x20, 0x40, 0x80]) }),
    ...(isOdd(0.2) && { dictionary: random.pick([0, 1, 77]) }),
    bytes: random.pick(strayByteSequences),
  }
}

function createRandomGzipMember(random: SeededRandom, isOdd: (share?: number) => boolean): CompressedFrame {
  return {
    kind: random.pick(
      isOdd() ? (['empty', 'raw', 'bytes', 'skippable'] as const) : (['compressed'] as const),
    ),
    ...(isOdd() && { checksum: random.pick(['wrong', 'missing']) }),
    ...(isOdd(0.5) && { size: 'wrong' }),
    ...(isOdd(0.4) && { flags: random.pick([0x01, 0x20, 0x40, 0x80]) }),
    ...(isOdd(0.2) && { method: random.pick([0, 7, 9]) }),
    fields: (['extra', 'name', 'comment', 'sum'] as const).filter(() => isOdd()),
    bytes: random.pick(strayByteSequences),
  }
}

const strayByteSequences = [
  Buffer.alloc(1),
  Buffer.alloc(7),
  Buffer.alloc(512),
  Buffer.from('stray'),
  Buffer.from([0x28, 0xb5, 0x2f]),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  Buffer.from([0x1f, 0x8b]),
  Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
  // A skippable frame that is shorter than its declared size.
  Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0x7f]),
]

export function compressIntoFrames(
  archive: Buffer,
  packing: CompressionFormat,
  frames: readonly CompressedFrame[],
): Buffer {
  const sharing = frames.filter(({ kind }) => kind !== 'empty' && kind !== 'skippable' && kind !== 'bytes')
  const step = Math.ceil(archive.length / Math.max(1, sharing.length))
  let at = 0
  return Buffer.concat(
    frames.map((frame) => {
      const has = sharing.includes(frame)
      const part = has ? archive.subarray(at, at + step) : Buffer.alloc(0)
      if (has) at += step
      if (frame.kind === 'bytes') return Buffer.from(frame.bytes ?? [])
      if (frame.kind === 'skippable') return createSkippableFrame(frame.bytes ?? new Uint8Array(0))
      return packing === 'zstd' ? createZstdFrame(part, frame) : createGzipMember(part, frame)
    }),
  )
}

function createSkippableFrame(bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt32LE(0x184d2a50 + (bytes.length % 16))
  header.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([header, bytes])
}

function createZstdFrame(part: Buffer, frame: CompressedFrame): Buffer {
  const { kind, checksum, window, size, flags = 0, dictionary } = frame
  const params = {
    [constants.ZSTD_c_checksumFlag]: checksum === 'right' ? 1 : 0,
    [constants.ZSTD_c_compressionLevel]: 1,
  }
  const made = zstdCompressSync(part, { params })
  const isByHand =
    kind !== 'compressed' ||
    window !== undefined ||
    size !== undefined ||
    dictionary !== undefined ||
    flags !== 0
  if (!isByHand && (checksum === undefined || checksum === 'right')) return made
  // Assembles the frame from the blocks of a compressed frame; the headers that Node.js writes have a known layout.
  const blocks =
    kind === 'compressed'
      ? extractZstdBlocks(zstdCompressSync(part, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }))
      : kind === 'runs'
        ? createRleZstdBlocks(part)
        : createRawZstdBlocks(part)
  const sum = {
    right: computeZstdContentChecksum(part),
    wrong: Buffer.from('nope'),
    missing: Buffer.alloc(0),
  }[checksum ?? 'missing']
  const sizeBytes = size === undefined ? 0 : 4
  const dictionaryBytes = dictionary === undefined ? 0 : 1
  const header = Buffer.alloc(6 + dictionaryBytes + sizeBytes)
  header.writeUInt32LE(0xfd2fb528)
  header[4] = (sizeBytes === 4 ? 0x80 : 0) | (checksum === undefined ? 0 : 4) | dictionaryBytes | flags
  header[5] = ((window ?? 20) - 10) << 3
  if (dictionaryBytes === 1) header[6] = dictionary ?? 0
  if (sizeBytes === 4) header.writeUInt32LE(part.length + (size === 'wrong' ? 1 : 0), 6 + dictionaryBytes)
  return Buffer.concat([header, blocks, sum])
}

/** Returns everything after the frame header. The frame has no checksum at the end. */
function extractZstdBlocks(frame: Buffer): Buffer {
  const flags = frame[4] ?? 0
  const isSingle = (flags & 0x20) !== 0
  const size = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0
  return frame.subarray(5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][flags & 3] ?? 0) + size)
}

function createZstdBlockHeader(isLast: boolean, type: number, size: number): Buffer {
  const header = Buffer.alloc(3)
  header.writeUIntLE((size << 3) | (type << 1) | (isLast ? 1 : 0), 0, 3)
  return header
}

function createRawZstdBlocks(part: Buffer): Buffer {
  const blocks: Buffer[] = []
  for (let at = 0; at < part.length || at === 0; at += 1024) {
    const piece = part.subarray(at, at + 1024)
    blocks.push(createZstdBlockHeader(at + 1024 >= part.length, 0, piece.length), piece)
  }
  return Buffer.concat(blocks)
}

/** Encodes each run of one byte as a separate block. */
function createRleZstdBlocks(part: Buffer): Buffer {
  const blocks: Buffer[] = []
  for (let at = 0; at < part.length;) {
    let end = at + 1
    while (end < part.length && part[end] === part[at] && end - at < 1024) end += 1
    blocks.push(createZstdBlockHeader(end === part.length, 1, end - at), part.subarray(at, at + 1))
    at = end
  }
  return blocks.length === 0 ? createZstdBlockHeader(true, 0, 0) : Buffer.concat(blocks)
}

/** Returns the checksum that zstd writes in the last four bytes of a frame. */
function computeZstdContentChecksum(part: Buffer): Buffer {
  return zstdCompressSync(part, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }).subarray(-4)
}

function createGzipMember(part: Buffer, frame: CompressedFrame): Buffer {
  const { kind, checksum, size, flags = 0, fields = [], method = 8 } = frame
  const bit = { sum: 2, extra: 4, name: 8, comment: 16 }
  const header = Buffer.from([
    0x1f,
    0x8b,
    method,
    fields.reduce((all, field) => all | bit[field], flags),
    0,
    0,
    0,
    0,
    0,
    255,
  ])
  const more: Buffer[] = []
  if (fields.includes('extra')) more.push(Buffer.from([3, 0, 1, 2, 3]))
  if (fields.includes('name')) more.push(Buffer.from('name\xe9\0', 'latin1'))
  if (fields.includes('comment')) more.push(Buffer.from('a comment\0'))
  const front = Buffer.concat([header, ...more])
  const sum = Buffer.alloc(2)
  sum.writeUInt16LE((crc32(front) & 0xffff) ^ (frame.bytes?.length === 7 ? 1 : 0))
  const end = Buffer.alloc(checksum === 'missing' ? 0 : 8)
  if (end.length > 0) {
    end.writeUInt32LE(checksum === 'wrong' ? 1 : crc32(part))
    end.writeUInt32LE(part.length + (size === 'wrong' ? 1 : 0), 4)
  }
  const body = deflateRawSync(part, { level: kind === 'raw' ? 0 : 1 })
  return Buffer.concat([front, ...(fields.includes('sum') ? [sum] : []), body, end])
}
