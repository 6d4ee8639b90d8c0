// Turns a catalog's files into layer content, with the same validation and cache as opm. Pure. Untrusted files are
// processed in layer-process.ts.
import { computeCacheDigest, opmCacheFileModes } from '@catalog-bot/fbc/api/cache-digest'
import { buildOpmCache } from '@catalog-bot/fbc/api/build-opm-cache'
import { assembleCatalog } from '@catalog-bot/fbc/facts/assemble-catalog'
import { decodeIgnoreFile } from '@catalog-bot/fbc/load/indexignore'
import type { BlobMeta } from '@catalog-bot/fbc/load/meta'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { isIgnoreFile, selectCatalogFiles } from '@catalog-bot/fbc/load/select-files'
import { validateAsOpm } from '@catalog-bot/fbc/model/validate-as-opm'
import type { ByteChunkTree } from '@catalog-bot/fbc/go/tar/byte-pieces'
import { getTarEndMarker, packTarTree, type TarTreeFile } from '@catalog-bot/fbc/go/tar/tar-tree'
import { type CatalogImageFile, ImageError, listBundles, type ListedBundle } from '../catalog-publisher.ts'

/** The directory in opm's Dockerfile. */
const catalogImageDirectory = 'configs'
export const cacheImageDirectory = 'tmp/cache'

/** The modes that `ADD` sets for a checkout with the usual umask, regardless of the local modes. */
export const catalogFileModes = { directory: 0o755, file: 0o644 }
/** The usual mode of /tmp. */
const tmpDirectoryMode = 0o1777

export interface CatalogLayerContent {
  /** The layer's archive in pieces. Repeated content is the same object. */
  readonly archive: readonly ByteChunkTree[]
  readonly packages: readonly string[]
  readonly bundles: number
  readonly listed: readonly ListedBundle[]
  readonly cacheDigest?: string
}

/** Throws an ImageError for a catalog that opm would not serve, or for invalid paths. */
export function createCatalogLayerContent(
  files: readonly CatalogImageFile[],
  hasCache: boolean,
): CatalogLayerContent {
  validateArchivePaths(files)
  const catalog: TarTreeFile[] = files.map(({ path, bytes }) => ({ path, pieces: [bytes] }))
  const { documents, listed } = parseValidCatalog(files)
  const cache = buildOpmCache(documents)
  // Without a cache in the image, opm would build the cache at startup and fail at that point.
  if (!cache.ok) throw new ImageError('no-cache', cache.error)
  const archive = [
    ...packTarTree(catalog, catalogFileModes, (path, kind) =>
      formatArchivePath(catalogImageDirectory, path, kind),
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
        formatArchivePath(cacheImageDirectory, path, kind),
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
export function extractListedBundles(files: readonly CatalogImageFile[]): readonly ListedBundle[] {
  return parseValidCatalog(files).listed
}

function parseValidCatalog(files: readonly CatalogImageFile[]): {
  readonly documents: readonly BlobMeta[]
  readonly listed: readonly ListedBundle[]
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
  return { documents, listed: listBundles(catalog) }
}

/** Linux's maximum file name length, and the maximum archive path length. */
const maxFileNameLength = 255
const maxArchivePathLength = 4096

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
