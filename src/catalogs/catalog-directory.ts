// Walks and opens a directory like opm, with Go's error messages. Reads one file at a time, without parsing.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  realpathSync,
  statSync,
  statfsSync,
} from 'node:fs'
import { sep } from 'node:path'
import { isIgnoreFile, selectCatalogFiles, decodeIgnoreFile } from '@catalog-bot/fbc/load/select-files'
import { assembleCatalog, type Catalog, type ParsedCatalogFile } from '@catalog-bot/fbc/facts/catalog'
import { fileUnreadableRule, linkLeadsOutRule } from '@catalog-bot/fbc/load/file-rules'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { comparePathsInWalkOrder } from '@catalog-bot/fbc/go/text'
import type { Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { createFinding } from '@catalog-bot/findings/rule'

export type CatalogDirectoryResult =
  /** `message` is opm's. */
  | { readonly kind: 'not-a-directory'; readonly message: string }
  /** The tree is unreadable, so opm loads nothing and prints `message`. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly findings: readonly Finding[] }
  | {
      readonly kind: 'catalog'
      /** Includes everything readable; `loadErrors` lists files that are not. */
      readonly catalog: Catalog
      readonly unreadable: readonly Finding[]
      /** A finding for each symbolic link out of the directory: opm follows it, but reviewers don't see its content. */
      readonly linked: readonly Finding[]
      /** Reads a file again; undefined where that fails. */
      readonly bytesOf: (path: string) => Uint8Array | undefined
      /** Relative to the directory, in opm's order. */
      readonly paths: readonly string[]
    }

const createFileStartLocation = (file: string) => ({ file, line: 1, column: 1, endLine: 1, endColumn: 1 })

export interface CatalogDirectoryFile {
  /** Relative to the directory, with `/` separators. */
  readonly path: string
  /** A symbolic link to a place outside the directory. opm follows it, but reviewers don't see its content. */
  readonly leadsOut: boolean
  /**
   * The file's bytes, or opm's error. With `memory`, the bytes are valid until its next use. Reads nothing if `isKnown` returns
   * true for the opened file's stamp. Files with the same stamp have the same content, unless the stamp is empty.
   */
  read(memory?: ReusableReadBuffer, isKnown?: IsKnownStamp): Uint8Array | { readonly error: string }
}

type IsKnownStamp = (stamp: string) => boolean

/**
 * Local file systems on which each write changes the file's ctime, which no program can set: ext4, XFS, Btrfs, and overlay, by
 * their numbers in statfs(2). Network file systems cache stats, and tmpfs ignores writes to mapped memory.
 */
export const fileSystemsWithStamps = new Set([0xef53, 0x58465342, 0x9123683e, 0x794c7630])
/** A younger file can be written again without a new ctime, whose resolution is up to a second. */
const minAgeForStampMs = 2000

/** Fits nearly all files. Its unused part takes no memory, and buffers of growing sizes would stay until garbage is collected. */
const minReadBufferBytes = 4 * 1024 * 1024

/** A reusable buffer: allocating fresh memory is as slow as reading the file. */
export class ReusableReadBuffer {
  private bytes = new Uint8Array(0)

  reserve(size: number): Uint8Array {
    if (size > this.bytes.length)
      this.bytes = new Uint8Array(new ArrayBuffer(Math.max(size, minReadBufferBytes)))
    return this.bytes.subarray(0, size)
  }
}

export type CatalogDirectoryListing =
  /** opm prints this with its usage. */
  | { readonly kind: 'not-a-directory'; readonly message: string }
  /** A directory or an ignore file is unreadable, so opm loads nothing. */
  | { readonly kind: 'unreadable'; readonly message: string; readonly file: string }
  | { readonly kind: 'files'; readonly files: readonly CatalogDirectoryFile[] }

/** Go's texts for system errors; others show their code. */
const goErrorMessageBySystemErrorCode: Readonly<Record<string, string>> = {
  EAGAIN: 'not a regular file',
  EACCES: 'permission denied',
  EIO: 'input/output error',
  EISDIR: 'is a directory',
  ELOOP: 'too many levels of symbolic links',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'file name too long',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'not a directory',
  ENXIO: 'no such device or address',
  EPERM: 'operation not permitted',
}

/** Lists files in walk order, without ignored ones. `now` in milliseconds decides which files are too young for a stamp. */
export function listCatalogDirectoryFiles(dir: string, now = Date.now()): CatalogDirectoryListing {
  let stampedDevice: bigint | undefined
  try {
    const stats = statSync(dir, { bigint: true })
    if (!stats.isDirectory()) return { kind: 'not-a-directory', message: `"${dir}" is not a directory` }
    if (process.platform === 'linux' && fileSystemsWithStamps.has(statfsSync(dir).type))
      stampedDevice = stats.dev
  } catch (error) {
    return { kind: 'not-a-directory', message: `stat ${dir}: ${formatGoError(error)}` }
  }
  const walk = walkDirectoryTree(dir)
  if (walk.error) return { kind: 'unreadable', ...walk.error }

  const ignoreFiles = new Map<string, string>()
  const links = new Map(walk.entries.map((entry) => [entry.path, entry.isLink]))
  for (const { path } of walk.entries) {
    if (!isIgnoreFile(path)) continue
    const content = readFileWithGoErrors(dir, path)
    if ('error' in content) return { kind: 'unreadable', message: content.error, file: path }
    ignoreFiles.set(path, decodeIgnoreFile(content))
  }
  const { files, loadError } = selectCatalogFiles(links.keys(), ignoreFiles)
  if (loadError) return { kind: 'unreadable', ...loadError }
  const formatStamp = ({ ctimeMs, ctimeNs, dev, ino, mtimeNs, size }: BigIntStats) =>
    dev === stampedDevice && ctimeMs < now - minAgeForStampMs ? [dev, ino, size, mtimeNs, ctimeNs].join() : ''
  return {
    kind: 'files',
    files: files.map((path) => ({
      path,
      leadsOut: links.get(path) === true && isSymlinkOutsideCatalogRoot(dir, path),
      read: (memory, isKnown) =>
        readFileWithGoErrors(dir, path, memory, (stats) => isKnown?.(formatStamp(stats)) === true),
    })),
  }
}

interface DirectoryWalkResult {
  readonly entries: { readonly path: string; readonly isLink: boolean }[]
  error?: { readonly message: string; readonly file: string }
}

/** Does not follow symbolic links. */
function walkDirectoryTree(root: string): DirectoryWalkResult {
  const walk: DirectoryWalkResult = { entries: [] }
  const todo = ['']
  for (let directory = todo.pop(); directory !== undefined; directory = todo.pop()) {
    try {
      for (const entry of readdirSync(joinPathLikeGo(root, directory), { withFileTypes: true })) {
        const path = directory === '' ? entry.name : `${directory}/${entry.name}`
        if (entry.isDirectory()) todo.push(path)
        else walk.entries.push({ path, isLink: entry.isSymbolicLink() })
      }
    } catch (error) {
      const file = directory === '' ? '.' : directory
      walk.error ??= { message: `open ${file}: ${formatGoError(error)}`, file }
    }
  }
  return walk
}

/** As Go's os.DirFS: open errors name the relative path, read errors the full path. */
function readFileWithGoErrors(
  root: string,
  path: string,
  memory?: ReusableReadBuffer,
  isKnown?: (stats: BigIntStats) => boolean,
): Uint8Array | { readonly error: string } {
  let file: number
  try {
    // Without O_NONBLOCK, opening a pipe without a writer blocks forever.
    file = openSync(joinPathLikeGo(root, path), constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    return { error: `open ${path}: ${formatGoError(error)}` }
  }
  try {
    const stats = fstatSync(file, { bigint: true })
    if (stats.isDirectory()) return { error: `read ${joinPathLikeGo(root, path)}: is a directory` }
    // A device has no end. Reading one byte shows whether the device is as empty as /dev/null.
    if (!stats.isFile() && readSync(file, new Uint8Array(1)) > 0)
      return { error: `read ${joinPathLikeGo(root, path)}: not a regular file` }
    if (!stats.isFile() || isKnown?.(stats) === true) return new Uint8Array(0)
    // Files in /proc have content though their size is 0.
    return memory === undefined || stats.size === 0n
      ? readFileSync(file)
      : readIntoBuffer(memory, file, Number(stats.size))
  } catch (error) {
    return { error: `read ${joinPathLikeGo(root, path)}: ${formatGoError(error)}` }
  } finally {
    closeSync(file)
  }
}

function readIntoBuffer(memory: ReusableReadBuffer, file: number, size: number): Uint8Array {
  const bytes = memory.reserve(size)
  let read = 0
  for (let more = 1; more > 0 && read < size; read += more)
    more = readSync(file, bytes, read, size - read, null)
  return bytes.subarray(0, read)
}

function isSymlinkOutsideCatalogRoot(root: string, path: string): boolean {
  try {
    const target = realpathSync(joinPathLikeGo(root, path))
    const home = realpathSync(root)
    return target !== home && !target.startsWith(home.endsWith(sep) ? home : home + sep)
  } catch {
    // A broken link doesn't lead outside.
    return false
  }
}

function joinPathLikeGo(root: string, path: string): string {
  if (path === '') return root
  return root.endsWith('/') ? root + path : `${root}/${path}`
}

function formatGoError(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error)
  return goErrorMessageBySystemErrorCode[code] ?? code
}

/**
 * Opens, reads and assembles a catalog directory on disk as opm does, without judging it. Never throws because of file
 * contents. `factsOf` may cache.
 */
export function readCatalogDirectory(
  dir: string,
  factsOf: (bytes: Uint8Array) => ParsedCatalogFile = (bytes) => parseCatalogFile(bytes),
  directory = listCatalogDirectoryFiles(dir),
): CatalogDirectoryResult {
  if (directory.kind === 'not-a-directory') return directory
  if (directory.kind === 'unreadable') {
    const { file, message } = directory
    const findings = [createFinding(fileUnreadableRule, createFileStartLocation(file), { error: message })]
    return { kind: 'unreadable', message, findings }
  }
  const loadErrors: { file: string; message: string }[] = []
  const linked: Finding[] = []
  const memory = new ReusableReadBuffer()
  const catalog = assembleCatalog(
    directory.files.flatMap((file) => {
      if (file.leadsOut) linked.push(createFinding(linkLeadsOutRule, createFileStartLocation(file.path), {}))
      const bytes = file.read(memory)
      if ('error' in bytes) {
        loadErrors.push({ file: file.path, message: bytes.error })
        return []
      }
      return [{ path: file.path, facts: factsOf(bytes) }]
    }),
  )
  const unreadable = new FindingList()
  for (const { file, message } of loadErrors)
    unreadable.add(fileUnreadableRule, createFileStartLocation(file), { error: message })
  const byPath = new Map(directory.files.map((file) => [file.path, file]))
  return {
    kind: 'catalog',
    catalog: addFileErrorsToCatalog(catalog, loadErrors),
    unreadable: unreadable.sorted(),
    linked,
    bytesOf: (path) => readCatalogFileBytes(byPath.get(path)),
    paths: [...byPath.keys()],
  }
}

/** An unopened file fails the load like an invalid one; the first in walk order decides. */
function addFileErrorsToCatalog(catalog: Catalog, more: Catalog['loadErrors']): Catalog {
  if (more.length === 0) return catalog
  const loadErrors = [...catalog.loadErrors, ...more].sort((a, b) => comparePathsInWalkOrder(a.file, b.file))
  return { ...catalog, loadErrors }
}

function readCatalogFileBytes(file: CatalogDirectoryFile | undefined): Uint8Array | undefined {
  const bytes = file?.read()
  return bytes === undefined || 'error' in bytes ? undefined : bytes
}
