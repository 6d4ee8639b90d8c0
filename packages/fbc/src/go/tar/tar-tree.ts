// Archives a folder in the order of Go's tree walk: each directory once, before its contents.
import { comparePathsInWalkOrder } from '../walk-order.ts'
import { getPieceLength, type BytePiece } from './byte-pieces.ts'
import { tarEndBytes, encodeTarHeader, getTarPadding } from './tar-header.ts'

export interface TarTreeFile {
  /** Relative to the tree's root, separated by `/`. */
  readonly path: string
  readonly pieces: readonly BytePiece[]
}

export interface TarTreeModes {
  readonly directory: number
  readonly file: number
}

/** Returns a path's name in the archive; undefined omits the member and its content. */
export type GetArchiveName = (path: string, kind: 'file' | 'directory') => string | undefined

const tarEndZeroBytes = new Uint8Array(tarEndBytes)

/** Yields the archive without its end. The root's path is empty. */
export function* packTarTree(
  files: readonly TarTreeFile[],
  modes: TarTreeModes,
  nameOf: GetArchiveName,
): Generator<BytePiece> {
  const packedDirectories = new Set<string>()
  function* packDirectory(path: string): Generator<Uint8Array> {
    if (packedDirectories.has(path)) return
    packedDirectories.add(path)
    if (path !== '') yield* packDirectory(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))
    const name = nameOf(path, 'directory')
    if (name !== undefined) yield encodeTarHeader({ kind: 'directory', name, mode: modes.directory, size: 0 })
  }
  yield* packDirectory('')
  for (const { path, pieces } of [...files].sort((a, b) => comparePathsInWalkOrder(a.path, b.path))) {
    yield* packDirectory(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))
    const name = nameOf(path, 'file')
    if (name === undefined) continue
    const size = getPieceLength(pieces)
    yield encodeTarHeader({ kind: 'file', name, mode: modes.file, size })
    yield* pieces
    const padding = getTarPadding(size)
    if (padding > 0) yield tarEndZeroBytes.subarray(0, padding)
  }
}

export function getTarEnd(): Uint8Array {
  return tarEndZeroBytes
}
