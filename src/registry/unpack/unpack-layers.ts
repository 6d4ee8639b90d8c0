// Compressed layers to the files of a few directories, in memory, within budgets of bytes and entries. Every layer
// is read to its end, so that its diff id covers all of it. Meant to run in a process of its own: see unpack-process.ts.
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { layeredFiles } from './layered-files.ts'
import { RegistryError } from '../registry-error.ts'
import { isTarHeader, refused, tarBlock } from './tar-header.ts'
import { defaultTarLimits, tarReader, type TarLimits } from './tar-reader.ts'
import { zstdFrames, type ZstdFrame } from './zstd-frames.ts'

export interface PackedLayer {
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
  /** Uncompressed to compressed, looked at once `ratioFrom` bytes have come out. */
  readonly ratio: number
  readonly ratioFrom: number
}

const mebibyte = 1024 * 1024

// What zstd itself uses at most (level 22); more is made on purpose, and reserved by whoever unpacks it.
const largestZstdWindow = 128 * mebibyte

export const defaultUnpackLimits: UnpackLimits = {
  ...defaultTarLimits,
  layer: 256 * mebibyte,
  image: 512 * mebibyte,
  kept: 64 * mebibyte,
  ratio: 200,
  ratioFrom: 16 * mebibyte,
}

/**
 * The regular files below `directories`, path to bytes, as all layers together leave them.
 * Rejects with a RegistryError: `unsupported` for an archive that is refused, `digest-mismatch` for a wrong diff id.
 */
export async function unpackLayers(
  layers: readonly PackedLayer[],
  directories: readonly string[],
  limits: UnpackLimits = defaultUnpackLimits,
  /** More directories, chosen once all paths are known; what did not fit into the budget is missing there. */
  furtherDirectories: (paths: Iterable<string>) => readonly string[] = () => [],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = layeredFiles()
  let imageBytes = 0
  let keptBytes = 0
  const isWanted = (path: string) => directories.some((directory) => path.startsWith(`${directory}/`))
  // Files elsewhere are kept while there is room, because a link may lead to them.
  const keep = (path: string, size: number) => {
    const fits = keptBytes + size <= limits.kept && (size <= limits.file || isWanted(path))
    if (!fits && isWanted(path)) throw refused(`its files are larger than ${limits.kept} bytes`)
    if (fits) keptBytes += size
    return fits
  }
  for (const { bytes, diffId } of layers) {
    files.beginLayer()
    const archive = tarReader((entry) => files.add(entry), keep, limits)
    const algorithm = diffId.startsWith('sha512:') ? 'sha512' : 'sha256'
    const hash = createHash(algorithm)
    let layerBytes = 0
    for await (const piece of decompressed(bytes)) {
      layerBytes += piece.length
      imageBytes += piece.length
      if (layerBytes > limits.layer) throw refused(`a layer unpacks to more than ${limits.layer} bytes`)
      if (imageBytes > limits.image) throw refused(`its layers unpack to more than ${limits.image} bytes`)
      if (layerBytes > limits.ratioFrom && layerBytes > bytes.length * limits.ratio)
        throw refused(`a layer unpacks to more than ${limits.ratio} times its size`)
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

async function* decompressed(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  try {
    const compression = compressionOf(bytes)
    if (compression === 'gzip') yield* gunzipped(bytes)
    else if (compression === 'zstd') {
      const frames = zstdFrames(bytes)
      if (frames.some(({ window }) => window > largestZstdWindow))
        throw refused(`it asks for a window of more than ${largestZstdWindow} bytes`)
      for (const frame of frames) yield* unzstd(bytes, frame)
    } else yield* slices(bytes)
  } catch (error) {
    if (error instanceof RegistryError) throw error
    throw refused(`its compression is damaged (${(error as Error).message})`, error)
  }
}

// By what the bytes are: media types of layers are often wrong, opm goes by the bytes too, and the digests say nothing
// about them. What is an archive with and without unpacking is refused: some readers do go by the media type.
function compressionOf(bytes: Uint8Array): 'gzip' | 'zstd' | 'none' {
  const begins = (...magic: number[]) => magic.every((byte, index) => bytes[index] === byte)
  if (begins(0x42, 0x5a, 0x68) || begins(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00))
    throw refused('it is compressed with bzip2 or xz, which only some readers know')
  // containerd sees zstd there, containers/image (and so opm) sees none.
  if (((bytes[0] ?? 0) & 0xf0) === 0x50 && bytes[1] === 0x2a && bytes[2] === 0x4d && bytes[3] === 0x18)
    throw refused('it begins with a part that only some readers skip')
  const found = begins(0x1f, 0x8b) ? 'gzip' : begins(0x28, 0xb5, 0x2f, 0xfd) ? 'zstd' : 'none'
  if (found !== 'none' && isTarHeader(bytes.subarray(0, tarBlock)))
    throw refused(`it is one archive to those who unpack ${found}, and another one to those who do not`)
  return found
}

async function* gunzipped(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 65_536 })
  yield* through(gunzip, bytes)
  // Zeros behind the last member end its reading without a word, whatever follows them.
  if (gunzip.bytesWritten !== bytes.length)
    throw refused('its compression is damaged (it goes on after its end)')
}

/**
 * One frame: with its checksum, which is compared. Its last byte comes alone: zstd reads a small frame that it has whole at one
 * go, and does not look then whether a block is larger than its window allows, which Go's decoder refuses. Nor does it hold a
 * frame that ends with an empty block to the size that it tells: that is done here.
 */
async function* unzstd(bytes: Uint8Array, { start, end, content }: ZstdFrame): AsyncGenerator<Uint8Array> {
  const frame = bytes.subarray(start, end)
  const params = { [constants.ZSTD_d_windowLogMax]: Math.log2(largestZstdWindow) }
  const decoder = createZstdDecompress({ chunkSize: 65_536, params })
  let unpacked = 0
  for await (const piece of through(decoder, frame, [...slices(frame.subarray(0, -1)), frame.subarray(-1)])) {
    unpacked += piece.length
    yield piece
  }
  if (content !== undefined && unpacked !== content)
    throw refused('its compression is damaged (a part is not as long as it says)')
}

async function* through(
  decoder: ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>,
  bytes: Uint8Array,
  slicesOfIt: Iterable<Uint8Array> = slices(bytes),
): AsyncGenerator<Uint8Array> {
  const pieces = Readable.from(slicesOfIt)
  try {
    for await (const piece of pieces.pipe(decoder)) yield piece as Uint8Array
  } finally {
    decoder.destroy()
    pieces.destroy()
  }
}

// Small pieces in, so that a budget is exceeded by little.
function* slices(bytes: Uint8Array, size = 16_384): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
