// The digest that ties a cache to its catalog: one hash over an archive of the catalog directory and one of the cache,
// permissions included (opm v1.73, pkg/cache/tar.go).
import { Fnv64a } from '../go/fnv.ts'
import { forEachByteChunk } from '../go/tar/byte-pieces.ts'
import { getTarEndMarker, packTarTree, type TarTreeFile, type TarTreeFileModes } from '../go/tar/tar-tree.ts'

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
