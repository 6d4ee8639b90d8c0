// Unpacks layers into memory within byte and entry limits. Reads every layer to its end to verify its diff id. Runs in
// unpack-process.ts.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { createLayeredFiles } from './layered-files.ts'
import { RegistryError } from '../registry-error.ts'
import { isTarHeader, rejectedArchiveError, tarBlockBytes } from './tar-header.ts'
import { defaultTarLimits, createTarReader, type TarLimits } from './tar-reader.ts'
import { splitZstdFrames, type ZstdFrame } from './zstd-frames.ts'

export interface CompressedLayer {
  readonly bytes: Uint8Array
  /** Of the uncompressed archive, from the image's config. */
  readonly diffId: string
}

export interface UnpackLimits extends TarLimits {
  /** Uncompressed bytes of one layer and of all layers. */
  readonly layer: number
  readonly image: number
  /** Bytes of files that are kept. */
  readonly kept: number
  /** Uncompressed to compressed, checked after `ratioFrom` uncompressed bytes. */
  readonly ratio: number
  readonly ratioFrom: number
}

const mebibyte = 1024 * 1024

// The most that zstd uses (level 22); the decoder reserves this much memory.
const maxZstdWindowBytes = 128 * mebibyte

export const defaultUnpackLimits: UnpackLimits = {
  ...defaultTarLimits,
  layer: 256 * mebibyte,
  image: 512 * mebibyte,
  kept: 64 * mebibyte,
  ratio: 200,
  ratioFrom: 16 * mebibyte,
}

/**
 * The regular files below `directories`, path to bytes, after all layers. Rejects with a RegistryError: `unsupported`
 * for a rejected archive, `digest-mismatch` for a wrong diff id.
 */
export async function unpackLayers(
  layers: readonly CompressedLayer[],
  directories: readonly string[],
  limits: UnpackLimits = defaultUnpackLimits,
  /** Further directories, chosen when all paths are known; files over the budget are missing. */
  furtherDirectories: (paths: Iterable<string>) => readonly string[] = () => [],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = createLayeredFiles()
  let imageBytes = 0
  let keptBytes = 0
  const isWanted = (path: string) => directories.some((directory) => path.startsWith(`${directory}/`))
  // Keeps other files while there is room, because a link may lead to them.
  const shouldRead = (path: string, size: number) => {
    const fits = keptBytes + size <= limits.kept && (size <= limits.file || isWanted(path))
    if (!fits && isWanted(path)) throw rejectedArchiveError(`its files are larger than ${limits.kept} bytes`)
    if (fits) keptBytes += size
    return fits
  }
  for (const { bytes, diffId } of layers) {
    files.startLayer()
    const archive = createTarReader((entry) => files.add(entry), shouldRead, limits)
    const algorithm = diffId.startsWith('sha512:') ? 'sha512' : 'sha256'
    const hash = createHash(algorithm)
    let layerBytes = 0
    for await (const piece of decompressLayer(bytes)) {
      layerBytes += piece.length
      imageBytes += piece.length
      if (layerBytes > limits.layer)
        throw rejectedArchiveError(`a layer unpacks to more than ${limits.layer} bytes`)
      if (imageBytes > limits.image)
        throw rejectedArchiveError(`its layers unpack to more than ${limits.image} bytes`)
      if (layerBytes > limits.ratioFrom && layerBytes > bytes.length * limits.ratio)
        throw rejectedArchiveError(`a layer unpacks to more than ${limits.ratio} times its size`)
      hash.update(piece)
      archive.push(piece)
    }
    archive.end()
    if (`${algorithm}:${hash.digest('hex')}` !== diffId)
      throw new RegistryError(
        'digest-mismatch',
        'a layer is not the one that the image was built with (diff id)',
      )
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
        throw rejectedArchiveError(`it asks for a window of more than ${maxZstdWindowBytes} bytes`)
      for (const frame of frames) yield* decompressZstdFrame(bytes, frame)
    } else yield* sliceBytes(bytes)
  } catch (error) {
    if (error instanceof RegistryError) throw error
    throw rejectedArchiveError(`its compression is damaged (${(error as Error).message})`, error)
  }
}

// Decides by the bytes as opm does, because layer media types are often wrong. Rejects bytes that are an archive both
// packed and unpacked, because some readers go by media type.
function detectCompression(bytes: Uint8Array): 'gzip' | 'zstd' | 'none' {
  const startsWithMagic = (...magic: number[]) => magic.every((byte, index) => bytes[index] === byte)
  if (startsWithMagic(0x42, 0x5a, 0x68) || startsWithMagic(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00))
    throw rejectedArchiveError('it is compressed with bzip2 or xz, which only some readers know')
  // containerd reads this as zstd; containers/image (and so opm) does not.
  if (((bytes[0] ?? 0) & 0xf0) === 0x50 && bytes[1] === 0x2a && bytes[2] === 0x4d && bytes[3] === 0x18)
    throw rejectedArchiveError('it begins with a part that only some readers skip')
  const compression = startsWithMagic(0x1f, 0x8b)
    ? 'gzip'
    : startsWithMagic(0x28, 0xb5, 0x2f, 0xfd)
      ? 'zstd'
      : 'none'
  if (compression !== 'none' && isTarHeader(bytes.subarray(0, tarBlockBytes)))
    throw rejectedArchiveError(
      `it is one archive to those who unpack ${compression}, and another one to those who do not`,
    )
  return compression
}

async function* decompressGzip(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 65_536 })
  yield* decodeSlices(gunzip, bytes)
  // Zeros after the last member silently end gunzip's reading, even if data follows.
  if (gunzip.bytesWritten !== bytes.length)
    throw rejectedArchiveError('its compression is damaged (it goes on after its end)')
}

/**
 * Verifies the checksum. The last byte comes separately: zstd decodes a small whole frame at once and then skips the
 * check of block sizes against the window, which Go's decoder makes. zstd does not check the declared size of a frame
 * that ends with an empty block either, so this function does.
 */
async function* decompressZstdFrame(
  bytes: Uint8Array,
  { start, end, content }: ZstdFrame,
): AsyncGenerator<Uint8Array> {
  const frame = bytes.subarray(start, end)
  const params = { [constants.ZSTD_d_windowLogMax]: Math.log2(maxZstdWindowBytes) }
  const decoder = createZstdDecompress({ chunkSize: 65_536, params })
  let unpacked = 0
  for await (const piece of decodeSlices(decoder, frame, [
    ...sliceBytes(frame.subarray(0, -1)),
    frame.subarray(-1),
  ])) {
    unpacked += piece.length
    yield piece
  }
  if (content !== undefined && unpacked !== content)
    throw rejectedArchiveError('its compression is damaged (a part is not as long as it says)')
}

async function* decodeSlices(
  decoder: ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>,
  bytes: Uint8Array,
  slicesOfIt: Iterable<Uint8Array> = sliceBytes(bytes),
): AsyncGenerator<Uint8Array> {
  const pieces = Readable.from(slicesOfIt)
  try {
    for await (const piece of pieces.pipe(decoder)) yield piece as Uint8Array
  } finally {
    decoder.destroy()
    pieces.destroy()
  }
}

// Small pieces, so that a budget is exceeded by little.
function* sliceBytes(bytes: Uint8Array, size = 16_384): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
