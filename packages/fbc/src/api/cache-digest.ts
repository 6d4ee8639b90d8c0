// The digest that ties a cache to its catalog: one hash over an archive of the catalog directory and one of the cache,
// permissions included (opm v1.73, pkg/cache/tar.go).
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

/** A hash that is computed incrementally. */
export class Fnv64a {
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

/** The permissions that opm gives cache files. */
export const opmCacheFileModes: TarTreeFileModes = { directory: 0o750, file: 0o640 }

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
