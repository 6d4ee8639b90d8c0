// Builds the cache that `opm serve --cache-only` writes in JSON format, byte for byte (opm v1.73, pkg/cache).
import { quoteLikeGo } from '../go/text.ts'
import type { BlobMeta } from '../load/meta.ts'
import {
  UnservableCatalogError,
  formatPackageIndexError,
  parseApiBundleFields,
  formatJsonAsStoredByOpm,
} from './bundle-content.ts'
import {
  createBundleCacheEncoder,
  formatPackageIndex,
  EscapedJsonCache,
  type JsonByteChunks,
} from './cache-json.ts'
import {
  buildPackageIndex,
  type PackageIndex,
  findCustomBlobProblem,
  addPackageIndexBlob,
  type PackageIndexBlobs,
} from './package-index.ts'
import {
  getTarEndMarker,
  packTarTree,
  type TarTreeFile,
  type TarTreeFileModes,
  forEachByteChunk,
} from '../go/tar/tar-tree.ts'

/**
 * One function: for each byte from `at` to `end`, `hash = (hash ^ byte) * prime`. Assembled by hand, because a compiler
 * for forty instructions would need more code.
 */
const fnvWasmCode = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version 1
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7e, 0x7f, 0x7f, 0x01, 0x7e], // types: (i64, i32, i32) -> i64
  ...[0x03, 0x02, 0x01, 0x00], // functions: one of type 0
  ...[0x05, 0x03, 0x01, 0x00, 0x10], // memory: 16 pages, one mebibyte
  ...[0x07, 0x0b, 0x02, 0x01, 0x6d, 0x02, 0x00, 0x03, 0x66, 0x6e, 0x76, 0x00, 0x00], // exports: "m", "fnv"
  ...[0x0a, 0x2e, 0x01, 0x2c, 0x00], // code: one body of 44 bytes, no locals
  ...[0x02, 0x40, 0x03, 0x40], // block, loop
  ...[0x20, 0x01, 0x20, 0x02, 0x4f, 0x0d, 0x01], // if at >= end, leave the block
  ...[0x20, 0x00, 0x20, 0x01, 0x31, 0x00, 0x00, 0x85], // hash ^ byte at `at`
  ...[0x42, 0xb3, 0x83, 0x80, 0x80, 0x80, 0x20, 0x7e, 0x21, 0x00], // * 0x100000001b3, into hash
  ...[0x20, 0x01, 0x41, 0x01, 0x6a, 0x21, 0x01], // at + 1
  ...[0x0c, 0x00, 0x0b, 0x0b], // repeat; end of loop and block
  ...[0x20, 0x00, 0x0b], // hash
)

const wasmBufferBytes = 16 * 65_536

const fnvOffsetBasis = 0xcbf29ce484222325n

/** The part of the WebAssembly API that this file uses, because platform types declare it in different places. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

interface FnvExports {
  readonly m: { readonly buffer: ArrayBuffer }
  readonly fnv: (hash: bigint, at: number, end: number) => bigint
}

let cachedFnvExports: FnvExports | undefined

// FNV-1a with 64 bits (hash/fnv), which opm uses for the digest of its cache. Uses WebAssembly, because a catalog with
// its cache can have a hundred megabytes, and JavaScript has no fast 64-bit multiplication.

/** A hash that is computed incrementally. */
class Fnv64a {
  private hash = fnvOffsetBasis

  update(bytes: Uint8Array): void {
    cachedFnvExports ??= new WebAssembly.Instance(new WebAssembly.Module(fnvWasmCode)).exports as FnvExports
    const memory = new Uint8Array(cachedFnvExports.m.buffer)
    for (let at = 0; at < bytes.length; at += wasmBufferBytes) {
      const piece = bytes.subarray(at, at + wasmBufferBytes)
      memory.set(piece)
      this.hash = cachedFnvExports.fnv(this.hash, 0, piece.length)
    }
  }

  /** Without leading zeros, as Go prints a number. Used in file names. */
  hex(): string {
    return BigInt.asUintN(64, this.hash).toString(16)
  }

  /** Sixteen digits, as Go prints bytes. Used for digests. */
  paddedHex(): string {
    return this.hex().padStart(16, '0')
  }
}

// The digest that ties a cache to its catalog: one hash over an archive of the catalog directory and one of the cache,
// permissions included (opm v1.73, pkg/cache/tar.go).

/** The permissions that opm gives cache files. */
export const opmCacheFileModes: TarTreeFileModes = { directory: 0o750, file: 0o640 }

export interface OpmCacheFile {
  /** Relative to `cache/`. */
  readonly path: string
  readonly pieces: JsonByteChunks
}

export type OpmCacheResult =
  | {
      readonly ok: true
      readonly files: readonly OpmCacheFile[]
      readonly packages: readonly string[]
      readonly bundles: number
    }
  /** Why opm can't build the cache, in opm's words where possible. */
  | { readonly ok: false; readonly error: string }

const utf8Encoder = new TextEncoder()
/** The longest file name on the systems that opm runs on, in bytes. */
const maxCacheFileNameBytes = 255

/** `documents`: all blobs of a catalog that opm finds valid, in any order. */
export function buildOpmCache(documents: readonly BlobMeta[]): OpmCacheResult {
  try {
    return { ok: true, ...buildOpmCacheFiles(documents) }
  } catch (error) {
    if (error instanceof UnservableCatalogError) return { ok: false, error: error.message }
    throw error
  }
}

function buildOpmCacheFiles(documents: readonly BlobMeta[]): Omit<OpmCacheResult & { ok: true }, 'ok'> {
  const files = new Map<string, JsonByteChunks>()
  const declared: PackageIndexBlobs = { packages: [], channels: [], deprecations: [] }
  const bundles: BlobMeta[] = []
  for (const meta of documents) {
    if (addPackageIndexBlob(declared, meta)) continue
    if (meta.schema === 'olm.bundle') bundles.push(meta)
    else addCustomBlobCacheFile(files, meta)
  }
  const index = buildPackageIndex(declared)
  const shared = new EscapedJsonCache()
  for (const bundle of bundles)
    prefixErrorsWithPackageName(bundle.package, () => addBundleCacheFiles(files, bundle, index, shared))
  files.set('packages.json', [utf8Encoder.encode(formatPackageIndex(index))])
  return {
    files: [...files].map(([path, pieces]) => ({ path, pieces })),
    packages: [...index.keys()],
    bundles: bundles.length,
  }
}

/** opm uses schema and package as directory names. */
function addCustomBlobCacheFile(files: Map<string, JsonByteChunks>, blob: BlobMeta): void {
  const problem = findCustomBlobProblem(blob)
  if (problem !== undefined) throw new UnservableCatalogError(problem)
  const content = utf8Encoder.encode(`${formatJsonAsStoredByOpm(blob.value)}\n`)
  const hash = new Fnv64a()
  hash.update(content)
  const path = ['metas', blob.schema, blob.package, `${hash.hex()}.json`].filter((part) => part !== '')
  files.set(path.join('/'), [content])
}

/** opm processes one package at a time and reports the package that fails. */
function prefixErrorsWithPackageName(name: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (error instanceof UnservableCatalogError)
      throw new UnservableCatalogError(formatPackageIndexError(name, error.message))
    throw error
  }
}

function addBundleCacheFiles(
  files: Map<string, JsonByteChunks>,
  { package: of, value }: BlobMeta,
  index: PackageIndex,
  shared: EscapedJsonCache,
): void {
  const parent = index.get(of)
  if (!parent) return
  const content = parseApiBundleFields(value)
  const inChannel = createBundleCacheEncoder(content, parent, shared)
  for (const channel of parent.channels.values()) {
    const line = channel.bundles.get(content.name)
    if (!line) continue
    const path = `${of}_${channel.name}_${line.name}.json`
    const problem =
      findCacheFileNameProblem(path) ??
      (files.has(path) ? 'another bundle uses the same file name' : undefined)
    if (problem !== undefined)
      throw new UnservableCatalogError(
        `opm cannot write the cache file ${quoteLikeGo(path)} for a bundle: ${problem}`,
      )
    files.set(path, inChannel(line))
  }
}

/** Channel and bundle names can contain characters that file names cannot. */
function findCacheFileNameProblem(name: string): string | undefined {
  if (name.includes('/')) return 'the name contains a slash'
  if (name.includes('\0')) return 'the name contains a NUL character'
  return utf8Encoder.encode(name).length > maxCacheFileNameBytes
    ? `the name is longer than ${maxCacheFileNameBytes} bytes`
    : undefined
}

/** Returns 16 hexadecimal digits. `catalog` has all files of the directory, ignored ones included. */
export function computeCacheDigest(
  catalog: readonly TarTreeFile[],
  modes: TarTreeFileModes,
  cache: readonly TarTreeFile[],
): string {
  const hash = new Fnv64a()
  const take = (bytes: Uint8Array) => hash.update(bytes)
  for (const [files, itsModes] of [
    [catalog, modes],
    [cache, opmCacheFileModes],
  ] as const) {
    for (const piece of packTarTree(files, itsModes, (path) => (path === '' ? '.' : path)))
      forEachByteChunk(piece, take)
    hash.update(getTarEndMarker())
  }
  return hash.paddedHex()
}
