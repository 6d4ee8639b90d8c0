// The differences between two trees by path, without rename detection (docs/threats.md#t01) and with file modes
// (docs/threats.md#t07).
import type { BlobSha } from './ids.ts'

export interface TreeEntry {
  /** Git's file mode as six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule). */
  readonly mode: string
  readonly oid: BlobSha
}

export interface TreePathEntry extends TreeEntry {
  readonly path: string
}

/** A path that exists on one side was added or removed. If it exists on both sides, its mode or content differs. */
export interface PathChange {
  readonly path: string
  readonly before?: TreeEntry
  readonly after?: TreeEntry
}
