import { createHash } from 'node:crypto'
import { computeSha256Digest } from '../../registry/manifest.ts'
import {
  forEachByteChunk,
  joinByteChunks,
  getByteChunkTreeLength,
  type ByteChunkTree,
  getTarEndMarker,
  packTarTree,
  type TarTreeFile,
} from '@catalog-bot/fbc/go/tar/tar-tree'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib'
import { computeCacheDigest, opmCacheFileModes, buildOpmCache } from '@catalog-bot/fbc/api/build-opm-cache'
import { assembleCatalog } from '@catalog-bot/fbc/facts/catalog'
import { decodeIgnoreFile, isIgnoreFile, selectCatalogFiles } from '@catalog-bot/fbc/load/select-files'
import type { BlobMeta } from '@catalog-bot/fbc/load/meta'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { validateAsOpm } from '@catalog-bot/fbc/model/validate-catalog'
import {
  type CatalogImageFile,
  type CatalogLayerSummary,
  ImageError,
  listCatalogBundles,
  type CatalogBundleSummary,
} from '../catalog-publisher.ts'

/** The directory in opm's Dockerfile. */
const catalogDirectoryInImage = 'configs'

export const opmCacheDirectoryInImage = 'tmp/cache'

/** The modes that `ADD` sets for a checkout with the usual umask, regardless of the local modes. */
export const catalogFileModes = { directory: 0o755, file: 0o644 }

/** The usual mode of /tmp. */
const tmpDirectoryMode = 0o1777

interface CatalogLayerContent {
  /** The layer's archive in pieces. Repeated content is the same object. */
  readonly archive: readonly ByteChunkTree[]
  readonly packages: readonly string[]
  readonly bundles: number
  readonly listed: readonly CatalogBundleSummary[]
  readonly cacheDigest?: string
}

/** Linux's maximum file name length, and the maximum archive path length. */
const maxFileNameLength = 255

const maxArchivePathLength = 4096

/**
 * Sharing shorter pieces costs more than compressing them again, because parts cannot refer to each other. With 8192,
 * layers of public catalogs were 40% larger and took three times as long in the waiting thread.
 */
const minReusedDeflateChunkBytes = 65_536

/** Uses all processors with almost no increase in size. */
const deflateInputBlockBytes = 512 * 1024

/** Shorter parts are compressed inline, because a thread handoff costs as much. */
const minBytesForThreadedDeflate = 65_536

/** The fastest level. A catalog's cache is mostly base64 images, which higher levels hardly reduce. */
const deflateOptions: ZlibOptions = { level: 1, finishFlush: constants.Z_SYNC_FLUSH }

const deflateRawAsync = promisify<Uint8Array, ZlibOptions, Uint8Array>(deflateRaw)

/** Omits the name, time, and operating system, which could differ between machines. */
const gzipHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

/** A last block without content. */
const finalDeflateBlock = Uint8Array.of(0x03, 0x00)

type DeflateBlockPromises = readonly Promise<Uint8Array>[]

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
  return { summary, packed: { bytes, digest: computeSha256Digest(bytes) } }
}

/** Compresses an archive in parallel, and repeated pieces only once. Parts are byte-aligned and independent, so they can be concatenated (RFC 1951, section 3.2.4; RFC 1952). The output depends only on the pieces and Node's zlib. */
export async function gzipByteChunks(pieces: readonly ByteChunkTree[]): Promise<Buffer> {
  const counts = new Map<ByteChunkTree, number>()
  for (const piece of pieces) countByteChunkOccurrences(piece, counts)
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

function countByteChunkOccurrences(piece: ByteChunkTree, counts: Map<ByteChunkTree, number>): void {
  const known = counts.get(piece) ?? 0
  counts.set(piece, known + 1)
  if (known === 0 && !(piece instanceof Uint8Array))
    for (const part of piece) countByteChunkOccurrences(part, counts)
}

function deflateByteChunks(
  pieces: readonly ByteChunkTree[],
  counts: ReadonlyMap<ByteChunkTree, number>,
  shared: Map<ByteChunkTree, DeflateBlockPromises>,
): DeflateBlockPromises {
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
    if ((counts.get(piece) ?? 0) > 1 && getByteChunkTreeLength(piece) >= minReusedDeflateChunkBytes) {
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
  return bytes.length < minBytesForThreadedDeflate
    ? deflateRawSync(bytes, deflateOptions)
    : deflateRawAsync(bytes, deflateOptions)
}

/**
 * Turns a catalog's files into layer content, with the same validation and cache as opm. Pure. Untrusted files are
 * processed in layer-process.ts. Throws an ImageError for a catalog that opm would not serve, or for invalid paths.
 */
function createCatalogLayerContent(
  files: readonly CatalogImageFile[],
  hasCache: boolean,
): CatalogLayerContent {
  validateArchivePaths(files)
  const catalog: TarTreeFile[] = files.map(({ path, bytes }) => ({ path, pieces: [bytes] }))
  const { documents, listed } = parseAndValidateCatalogFiles(files)
  const cache = buildOpmCache(documents)
  // Without a cache in the image, opm would build the cache at startup and fail at that point.
  if (!cache.ok) throw new ImageError('no-cache', cache.error)
  const archive = [
    ...packTarTree(catalog, catalogFileModes, (path, kind) =>
      formatArchivePath(catalogDirectoryInImage, path, kind),
    ),
  ]
  const counted = { packages: cache.packages, bundles: cache.bundles, listed }
  if (!hasCache) return { archive: [...archive, getTarEndMarker()], ...counted }
  const digest = computeCacheDigest(catalog, catalogFileModes, cache.files)
  const below = cache.files.map(({ path, pieces }) => ({ path: `cache/${path}`, pieces }))
  const all = [...below, { path: 'digest', pieces: [new TextEncoder().encode(digest)] }]
  const temporary = { directory: tmpDirectoryMode, file: 0 }
  return {
    archive: [
      ...archive,
      ...packTarTree([], temporary, () => 'tmp/'),
      ...packTarTree(all, opmCacheFileModes, (path, kind) =>
        formatArchivePath(opmCacheDirectoryInImage, path, kind),
      ),
      getTarEndMarker(),
    ],
    ...counted,
    cacheDigest: digest,
  }
}

function formatArchivePath(folder: string, path: string, kind: 'file' | 'directory'): string {
  const name = path === '' ? folder : `${folder}/${path}`
  return kind === 'directory' ? `${name}/` : name
}

/** Throws an ImageError for a catalog that opm would not serve. */
export function listBundlesInCatalogFiles(
  files: readonly CatalogImageFile[],
): readonly CatalogBundleSummary[] {
  return parseAndValidateCatalogFiles(files).listed
}

function parseAndValidateCatalogFiles(files: readonly CatalogImageFile[]): {
  readonly documents: readonly BlobMeta[]
  readonly listed: readonly CatalogBundleSummary[]
} {
  const byPath = new Map(files.map(({ path, bytes }) => [path, bytes]))
  const ignores = files
    .filter(({ path }) => isIgnoreFile(path))
    .map(({ path, bytes }): [string, string] => [path, decodeIgnoreFile(bytes)])
  const selection = selectCatalogFiles(byPath.keys(), new Map(ignores))
  if (selection.loadError) throw new ImageError('invalid-catalog', selection.loadError.message)
  const documents: BlobMeta[] = []
  const onMeta = (meta: BlobMeta) => void documents.push(meta)
  const read = selection.files.map((path) => {
    const facts = parseCatalogFile(byPath.get(path) ?? new Uint8Array(), { forVerdict: true, onMeta })
    if (facts.loadError !== undefined) throw new ImageError('invalid-catalog', `${path}: ${facts.loadError}`)
    return { path, facts }
  })
  const catalog = assembleCatalog(read)
  const { message } = validateAsOpm(catalog)
  if (message !== undefined) throw new ImageError('invalid-catalog', message)
  return { documents, listed: listCatalogBundles(catalog) }
}

function validateArchivePaths(files: readonly CatalogImageFile[]): void {
  const paths = new Set<string>()
  const directories = new Set<string>()
  const reject = (path: string, why: string) => {
    throw new ImageError('order', `the file ${JSON.stringify(path)} cannot be added to an image: ${why}`)
  }
  for (const { path } of files) {
    if (paths.has(path)) reject(path, 'the file appears twice')
    paths.add(path)
    const parts = path.split('/')
    if (parts.some((part) => part === '' || part === '.' || part === '..'))
      reject(path, 'the path is outside the catalog directory')
    if (path.includes('\0')) reject(path, 'the file name contains a NUL')
    if (!path.isWellFormed()) reject(path, 'the file name is not valid UTF-8')
    // Whiteouts would delete files of the base.
    if (parts.some((part) => part.startsWith('.wh.')))
      reject(path, 'the name starts with ".wh.", a prefix that deletes files in an image layer')
    if (Buffer.byteLength(path) > maxArchivePathLength) reject(path, 'the path is too long')
    if (parts.some((part) => Buffer.byteLength(part) > maxFileNameLength))
      reject(path, 'the file name is too long')
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      directories.add(path.slice(0, at))
  }
  for (const path of paths) if (directories.has(path)) reject(path, 'the path is both a file and a directory')
}
