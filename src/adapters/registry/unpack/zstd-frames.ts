// Splits a zstd stream into frames (RFC 8878, section 3.1) before decompression, because Node's decoder silently stops
// after the first frame and reserves its window (up to 2 GiB) outside the heap limit. Rejects ambiguous streams.
import { createRejectedArchiveError } from './tar-header.ts'

export interface ZstdFrame {
  readonly start: number
  readonly end: number
  /** Bytes that a decoder reserves. */
  readonly window: number
  /** Bytes after decompression, if declared. */
  readonly content: number | undefined
}

const zstdMagic = 0xfd2fb528
/** Lazy-pulling formats use a frame per 64 KB, so this allows layers of a few gigabytes. Each frame needs a decoder. */
const maxZstdFrames = 50_000

/** Frames with content, in order. Throws a RegistryError unless the bytes are whole frames. */
export function splitZstdFrames(bytes: Uint8Array): readonly ZstdFrame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const frames: ZstdFrame[] = []
  for (let at = 0; at < bytes.length;) {
    if (at + 8 > bytes.length) throw createDamagedFrameError('data after the end')
    const first = view.getUint32(at, true)
    // A skippable frame's size does not include its header.
    if (first >>> 4 === 0x184d2a5) {
      at += 8 + view.getUint32(at + 4, true)
      if (at > bytes.length) throw createDamagedFrameError('truncated data')
    } else if (first === zstdMagic) {
      if (frames.length === maxZstdFrames)
        throw createRejectedArchiveError(`it is compressed in more than ${maxZstdFrames} frames`)
      const frame = parseZstdFrame(view, at)
      frames.push(frame)
      at = frame.end
    } else throw createDamagedFrameError('data after the end')
  }
  return frames
}

function parseZstdFrame(view: DataView, start: number): ZstdFrame {
  const flags = view.getUint8(start + 4)
  // Reserved and unused. Some decoders reject these bits; others ignore them.
  if ((flags & 0x18) !== 0) throw createRejectedArchiveError('it sets a reserved bit in a zstd frame header')
  const isSingle = (flags & 0x20) !== 0
  let at = start + 5
  let window = 0
  if (!isSingle) {
    const descriptor = view.getUint8(at)
    // Does not shift bits, because exponents go up to 41, and 1 << 41 is 512.
    const base = 2 ** (10 + (descriptor >> 3))
    window = base + (base / 8) * (descriptor & 7)
    at += 1
  }
  const dictionaryBytes = [0, 1, 2, 4][flags & 3] ?? 0
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0
  if (at + dictionaryBytes + sizeBytes > view.byteLength) throw createDamagedFrameError('truncated data')
  for (let index = 0; index < dictionaryBytes; index += 1)
    if (view.getUint8(at + index) !== 0) throw createRejectedArchiveError('it requires a zstd dictionary')
  at += dictionaryBytes
  const content = sizeBytes === 0 ? undefined : parseContentSize(view, at, sizeBytes)
  // The window of a single-segment frame is its content.
  if (isSingle) window = content ?? 0
  at += sizeBytes
  for (let isLast = false; !isLast;) {
    if (at + 3 > view.byteLength) throw createDamagedFrameError('truncated data')
    const header = view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000
    isLast = (header & 1) === 1
    // A run (type 1) stores one byte regardless of its length.
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
  }
  const end = at + ((flags & 4) === 0 ? 0 : 4)
  if (end > view.byteLength) throw createDamagedFrameError('truncated data')
  return { start, end, window, content }
}

function parseContentSize(view: DataView, at: number, bytes: number): number {
  if (bytes === 1) return view.getUint8(at)
  if (bytes === 2) return view.getUint16(at, true) + 256
  if (bytes === 4) return view.getUint32(at, true)
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32
}

const createDamagedFrameError = (why: string) =>
  createRejectedArchiveError(`its compression is damaged (${why})`)
