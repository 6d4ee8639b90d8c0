// The digest by which opm knows that a cache belongs to a catalog (opm v1.73, pkg/cache/tar.go): one hash over an archive of the
// catalog's directory and one of the cache's, permissions included.
import { Fnv64a } from '../../go/fnv.ts'
import { forEachPiece } from '../../go/tar/pieces.ts'
import { endOfTar, tarTree, type TreeFile, type TreeModes } from '../../go/tar/tar-tree.ts'

/** What opm gives the files of a cache. */
export const cacheModes: TreeModes = { directory: 0o750, file: 0o640 }

/** Sixteen hexadecimal digits. `catalog` are all files of the directory, those that opm ignores too. */
export function cacheDigest(
  catalog: readonly TreeFile[],
  modes: TreeModes,
  cache: readonly TreeFile[],
): string {
  const hash = new Fnv64a()
  const take = (bytes: Uint8Array) => hash.update(bytes)
  for (const [files, itsModes] of [
    [catalog, modes],
    [cache, cacheModes],
  ] as const) {
    for (const piece of tarTree(files, itsModes, (path) => (path === '' ? '.' : path)))
      forEachPiece(piece, take)
    hash.update(endOfTar())
  }
  return hash.paddedHex()
}
