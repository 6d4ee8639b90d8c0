// Finds files that change although their own entries don't: symbolic links on the base branch whose targets a change
// touches. New or edited links are ordinary differing paths, which the checks reject (T07).
import type { TreeSha } from '../pull-request/ids.ts'
import type { PathChange, TreePathEntry } from '../pull-request/change.ts'
import type { TreeReader } from '../ports/repository.ts'
import { resolveSymlinkedFile } from './linked-file.ts'
import { filterSymlinkEntries } from './find-layout.ts'

export interface ChangedSymlinksInput {
  readonly base: TreeSha
  readonly entries: readonly TreePathEntry[]
  readonly result: TreeSha
  readonly differing: ReadonlySet<string>
}

/** Treats each link as the file it leads to, before and after. Sorted by path. */
export async function findChangedSymlinks(
  repository: TreeReader,
  { base, entries, result, differing }: ChangedSymlinksInput,
): Promise<readonly PathChange[]> {
  if (differing.size === 0) return []
  const changes: PathChange[] = []
  for (const { path, oid } of filterSymlinkEntries(entries)) {
    if (differing.has(path)) continue
    const before = await resolveSymlinkedFile(repository, base, '', path, oid)
    const after = await resolveSymlinkedFile(repository, result, '', path, oid)
    if (before.file === after.file) continue
    changes.push({
      path,
      ...(before.file && { before: { mode: '100644', oid: before.file } }),
      ...(after.file && { after: { mode: '100644', oid: after.file } }),
    })
  }
  return changes
}
