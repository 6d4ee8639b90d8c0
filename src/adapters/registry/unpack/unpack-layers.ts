// Unpacks layers into memory within byte and entry limits. Reads every layer to its end to verify its diff id. Runs in
// unpack-process.ts.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { LayeredFileSystem } from './layered-files.ts'
import { RegistryError } from '../registry-error.ts'
import { isTarHeader, createRejectedImageError, tarBlockBytes } from './tar-header.ts'
import { defaultTarLimits, TarReader, type TarLimits } from './tar-reader.ts'

interface ZstdFrame {
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

const createCorruptCompressionError = (why: string) =>
  createRejectedImageError(`the compressed data is corrupt (${why})`)

export interface CompressedLayer {
  readonly bytes: Uint8Array
  /** The digest of the uncompressed archive, from the image's config. */
  readonly diffId: string
}

export interface UnpackLimits extends TarLimits {
  /** Uncompressed bytes of one layer and of all layers. */
  readonly layer: number
  readonly image: number
  /** Total bytes of the files whose content is read. */
  readonly contentBytes: number
  /** The ratio of uncompressed to compressed bytes, checked after `ratioFrom` uncompressed bytes. */
  readonly ratio: number
  readonly ratioFrom: number
}

const bytesPerMebibyte = 1024 * 1024

// The largest window that zstd uses (level 22). The decoder reserves this much memory.
const maxZstdWindowBytes = 128 * bytesPerMebibyte

export const defaultUnpackLimits: UnpackLimits = {
  ...defaultTarLimits,
  layer: 256 * bytesPerMebibyte,
  image: 512 * bytesPerMebibyte,
  contentBytes: 64 * bytesPerMebibyte,
  ratio: 200,
  ratioFrom: 16 * bytesPerMebibyte,
}

/**
 * Returns the regular files below `directories` after applying all layers, as path to bytes. Rejects with a
 * RegistryError: `unsupported` for a rejected archive, `digest-mismatch` for a wrong diff ID.
 */
export async function unpackLayers(
  layers: readonly CompressedLayer[],
  directories: readonly string[],
  limits: UnpackLimits = defaultUnpackLimits,
  /** Additional directories, chosen when all paths are known. Files that exceed the budget are missing. */
  furtherDirectories: (paths: Iterable<string>) => readonly string[] = () => [],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new LayeredFileSystem()
  let imageBytes = 0
  let retainedBytes = 0
  const isWanted = (path: string) => directories.some((directory) => path.startsWith(`${directory}/`))
  // Also reads other files within the budget, because a link may point to them.
  const shouldRead = (path: string, size: number) => {
    const fits = retainedBytes + size <= limits.contentBytes && (size <= limits.file || isWanted(path))
    if (!fits && isWanted(path))
      throw createRejectedImageError(`the files total more than ${limits.contentBytes} bytes`)
    if (fits) retainedBytes += size
    return fits
  }
  for (const { bytes, diffId } of layers) {
    files.startLayer()
    const archive = new TarReader((entry) => files.add(entry), shouldRead, limits)
    const algorithm = diffId.startsWith('sha512:') ? 'sha512' : 'sha256'
    const hash = createHash(algorithm)
    let layerBytes = 0
    for await (const piece of decompressLayer(bytes)) {
      layerBytes += piece.length
      imageBytes += piece.length
      if (layerBytes > limits.layer)
        throw createRejectedImageError(`a layer unpacks to more than ${limits.layer} bytes`)
      if (imageBytes > limits.image)
        throw createRejectedImageError(`the layers unpack to more than ${limits.image} bytes`)
      if (layerBytes > limits.ratioFrom && layerBytes > bytes.length * limits.ratio)
        throw createRejectedImageError(
          `a layer unpacks to more than ${limits.ratio} times its compressed size`,
        )
      hash.update(piece)
      archive.push(piece)
    }
    archive.end()
    if (`${algorithm}:${hash.digest('hex')}` !== diffId)
      throw new RegistryError('digest-mismatch', 'a layer does not match its diff ID in the image config')
  }
  return files.filesBelow([...directories, ...furtherDirectories(files.paths())])
}

async function* decompressLayer(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  try {
    const compression = detectCompression(bytes)
    if (compression === 'gzip') yield* decompressGzip(bytes)
    else if (compression === 'zstd') {
      const frames = splitZstdFrames(bytes)
      if (frames.some(({ window }) => window > maxZstdWindowBytes))
        throw createRejectedImageError(
          `a layer requires a zstd window of more than ${maxZstdWindowBytes} bytes`,
        )
      for (const frame of frames) yield* decompressZstdFrame(bytes, frame)
    } else yield* splitIntoByteSlices(bytes)
  } catch (error) {
    if (error instanceof RegistryError) throw error
    throw createRejectedImageError(`the compressed data is corrupt (${(error as Error).message})`, error)
  }
}

// Uses the content like opm, because layer media types are often wrong. Rejects content that is a valid archive both
// compressed and uncompressed, because some readers use the media type.
function detectCompression(bytes: Uint8Array): 'gzip' | 'zstd' | 'none' {
  const startsWithMagic = (...magic: number[]) => magic.every((byte, index) => bytes[index] === byte)
  if (startsWithMagic(0x42, 0x5a, 0x68) || startsWithMagic(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00))
    throw createRejectedImageError('a layer is compressed with bzip2 or xz, which not all clients support')
  // containerd reads this as zstd. containers/image, and therefore opm, does not.
  if (((bytes[0] ?? 0) & 0xf0) === 0x50 && bytes[1] === 0x2a && bytes[2] === 0x4d && bytes[3] === 0x18)
    throw createRejectedImageError('not all clients support layers that start with a skippable zstd frame')
  const compression = startsWithMagic(0x1f, 0x8b)
    ? 'gzip'
    : startsWithMagic(0x28, 0xb5, 0x2f, 0xfd)
      ? 'zstd'
      : 'none'
  if (compression !== 'none' && isTarHeader(bytes.subarray(0, tarBlockBytes)))
    throw createRejectedImageError(
      `the layer content depends on whether a client decompresses the layer with ${compression}`,
    )
  return compression
}

async function* decompressGzip(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 65_536 })
  yield* decompressByteSlices(gunzip, bytes)
  // gunzip silently stops at zeros after the last member, even if data follows.
  if (gunzip.bytesWritten !== bytes.length)
    throw createRejectedImageError('the compressed data is corrupt (data after the end)')
}

/**
 * Verifies the checksum. Sends the last byte separately, because zstd decodes a small complete frame in one step and
 * then does not check block sizes against the window, as Go's decoder does. zstd also does not check the declared size
 * of a frame that ends with an empty block, so this function does.
 */
async function* decompressZstdFrame(
  bytes: Uint8Array,
  { start, end, content }: ZstdFrame,
): AsyncGenerator<Uint8Array> {
  const frame = bytes.subarray(start, end)
  const params = { [constants.ZSTD_d_windowLogMax]: Math.log2(maxZstdWindowBytes) }
  const decoder = createZstdDecompress({ chunkSize: 65_536, params })
  let unpacked = 0
  for await (const piece of decompressByteSlices(decoder, frame, [
    ...splitIntoByteSlices(frame.subarray(0, -1)),
    frame.subarray(-1),
  ])) {
    unpacked += piece.length
    yield piece
  }
  if (content !== undefined && unpacked !== content)
    throw createRejectedImageError('the compressed data is corrupt (a frame does not have its declared size)')
}

async function* decompressByteSlices(
  decoder: ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>,
  bytes: Uint8Array,
  slicesOfIt: Iterable<Uint8Array> = splitIntoByteSlices(bytes),
): AsyncGenerator<Uint8Array> {
  const pieces = Readable.from(slicesOfIt)
  try {
    for await (const piece of pieces.pipe(decoder)) yield piece as Uint8Array
  } finally {
    decoder.destroy()
    pieces.destroy()
  }
}

// Small pieces, so that a budget is exceeded only slightly.
function* splitIntoByteSlices(bytes: Uint8Array, size = 16_384): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Frames with content, in order. Throws a RegistryError unless the bytes are whole frames. */
function splitZstdFrames(bytes: Uint8Array): readonly ZstdFrame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const frames: ZstdFrame[] = []
  for (let at = 0; at < bytes.length;) {
    if (at + 8 > bytes.length) throw createCorruptCompressionError('data after the end')
    const first = view.getUint32(at, true)
    // A skippable frame's size does not include its header.
    if (first >>> 4 === 0x184d2a5) {
      at += 8 + view.getUint32(at + 4, true)
      if (at > bytes.length) throw createCorruptCompressionError('truncated data')
    } else if (first === zstdMagic) {
      if (frames.length === maxZstdFrames)
        throw createRejectedImageError(`a layer has more than ${maxZstdFrames} zstd frames`)
      const frame = parseZstdFrame(view, at)
      frames.push(frame)
      at = frame.end
    } else throw createCorruptCompressionError('data after the end')
  }
  return frames
}

function parseZstdFrame(view: DataView, start: number): ZstdFrame {
  const flags = view.getUint8(start + 4)
  // Reserved and unused. Some decoders reject these bits; others ignore them.
  if ((flags & 0x18) !== 0) throw createRejectedImageError('a zstd frame header sets a reserved bit')
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
  if (at + dictionaryBytes + sizeBytes > view.byteLength)
    throw createCorruptCompressionError('truncated data')
  for (let index = 0; index < dictionaryBytes; index += 1)
    if (view.getUint8(at + index) !== 0) throw createRejectedImageError('a layer requires a zstd dictionary')
  at += dictionaryBytes
  const content = sizeBytes === 0 ? undefined : parseZstdContentSize(view, at, sizeBytes)
  // The window of a single-segment frame is its content.
  if (isSingle) window = content ?? 0
  at += sizeBytes
  for (let isLast = false; !isLast;) {
    if (at + 3 > view.byteLength) throw createCorruptCompressionError('truncated data')
    const header = view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000
    isLast = (header & 1) === 1
    // A run (type 1) stores one byte regardless of its length.
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
  }
  const end = at + ((flags & 4) === 0 ? 0 : 4)
  if (end > view.byteLength) throw createCorruptCompressionError('truncated data')
  return { start, end, window, content }
}

function parseZstdContentSize(view: DataView, at: number, bytes: number): number {
  if (bytes === 1) return view.getUint8(at)
  if (bytes === 2) return view.getUint16(at, true) + 256
  if (bytes === 4) return view.getUint32(at, true)
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32
}
