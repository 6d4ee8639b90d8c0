// What differs between two trees, path by path: no rename detection (T01), modes included (T07).
import type { BlobSha } from './ids.ts'

export interface TreeEntry {
  /** Git's file mode as six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule). */
  readonly mode: string
  readonly oid: BlobSha
}

export interface TreePathEntry extends TreeEntry {
  readonly path: string
}

/** A path on one side only was added or removed; on both sides its mode or content differs. */
export interface PathChange {
  readonly path: string
  readonly before?: TreeEntry
  readonly after?: TreeEntry
}
