// Files that read otherwise in the result though their own entries stay: symbolic links of the base whose target a
// change touches. A new or edited link is a differing path like any other, and nobody may add one (T07).
import type { TreeSha } from '../change/ids.ts'
import type { PathChange, ListedEntry } from '../change/path-change.ts'
import type { ReadTree } from '../ports/repository.ts'
import { linkedFile } from './catalogs/linked-file.ts'
import { linksIn } from './find-layout.ts'

export interface LinkedTrees {
  readonly base: TreeSha
  /** Every entry of the base. */
  readonly entries: readonly ListedEntry[]
  readonly result: TreeSha
  /** Paths that differ anyway. */
  readonly differing: ReadonlySet<string>
}

/** As if the files that the links lead to stood in their places, before and after. Sorted by path, as the entries are. */
export async function changedLinks(
  repository: ReadTree,
  { base, entries, result, differing }: LinkedTrees,
): Promise<readonly PathChange[]> {
  if (differing.size === 0) return []
  const changes: PathChange[] = []
  for (const { path, oid } of linksIn(entries)) {
    if (differing.has(path)) continue
    const before = await linkedFile(repository, base, '', path, oid)
    const after = await linkedFile(repository, result, '', path, oid)
    if (before.file === after.file) continue
    changes.push({
      path,
      ...(before.file && { before: { mode: '100644', oid: before.file } }),
      ...(after.file && { after: { mode: '100644', oid: after.file } }),
    })
  }
  return changes
}
