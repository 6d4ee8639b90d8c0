// Archives a folder in the order of Go's tree walk: each directory once, before its contents.
import { compareWalk } from '../walk-order.ts'
import { lengthOf, type Piece } from './pieces.ts'
import { tarEnd, tarHeader, tarPadding } from './tar-header.ts'

export interface TreeFile {
  /** Relative to the tree's root, separated by `/`. */
  readonly path: string
  readonly pieces: readonly Piece[]
}

export interface TreeModes {
  readonly directory: number
  readonly file: number
}

/** Returns a path's name in the archive; undefined omits the member and its content. */
export type NameInArchive = (path: string, kind: 'file' | 'directory') => string | undefined

const zeros = new Uint8Array(tarEnd)

/** Yields the archive without its end. The root's path is empty. */
export function* tarTree(
  files: readonly TreeFile[],
  modes: TreeModes,
  nameOf: NameInArchive,
): Generator<Piece> {
  const told = new Set<string>()
  function* directory(path: string): Generator<Uint8Array> {
    if (told.has(path)) return
    told.add(path)
    if (path !== '') yield* directory(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))
    const name = nameOf(path, 'directory')
    if (name !== undefined) yield tarHeader({ kind: 'directory', name, mode: modes.directory, size: 0 })
  }
  yield* directory('')
  for (const { path, pieces } of [...files].sort((a, b) => compareWalk(a.path, b.path))) {
    yield* directory(path.slice(0, Math.max(path.lastIndexOf('/'), 0)))
    const name = nameOf(path, 'file')
    if (name === undefined) continue
    const size = lengthOf(pieces)
    yield tarHeader({ kind: 'file', name, mode: modes.file, size })
    yield* pieces
    const padding = tarPadding(size)
    if (padding > 0) yield zeros.subarray(0, padding)
  }
}

export function endOfTar(): Uint8Array {
  return zeros
}
