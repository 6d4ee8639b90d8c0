// Files that change though their own entries don't: symbolic links of the base whose target a change touches. New or
// edited links are ordinary differing paths, which the checks reject (T07).
import type { TreeSha } from '../change/ids.ts'
import type { PathChange, ListedEntry } from '../change/path-change.ts'
import type { ReadTree } from '../ports/repository.ts'
import { linkedFile } from './catalogs/linked-file.ts'
import { linksIn } from './find-layout.ts'

export interface LinkedTrees {
  readonly base: TreeSha
  readonly entries: readonly ListedEntry[]
  readonly result: TreeSha
  readonly differing: ReadonlySet<string>
}

/** Treats each link as the file it leads to, before and after. Sorted by path. */
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
