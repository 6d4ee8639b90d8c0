// Caches what one evaluation has listed and read of its trees, so that no file is read from git twice.
import type { BlobSha, TreeSha } from '../pull-request/ids.ts'
import type { TreePathEntry, TreeEntry } from '../pull-request/change.ts'
import { findLowerBound } from '../pull-request/incremental-list.ts'
import type { TreeReader } from '../ports/repository.ts'

export interface LoadedGitTrees {
  readonly trees: ReadonlyMap<TreeSha, readonly TreePathEntry[]>
  /** Blobs that are read or being read. */
  readonly blobs: ReadonlyMap<BlobSha, Promise<Uint8Array>>
}

/** Falls back to `repository`, with its limits and errors. */
export function createCachedTreeReader(repository: TreeReader, { trees, blobs }: LoadedGitTrees): TreeReader {
  return {
    list: (tree, prefix = '') => {
      const entries = trees.get(tree)
      return entries === undefined
        ? repository.list(tree, prefix)
        : Promise.resolve(findTreeEntriesBelow(prefix, entries))
    },
    entry: (tree, path) => {
      const entries = trees.get(tree)
      return entries === undefined
        ? repository.entry(tree, path)
        : Promise.resolve(findTreeEntry(entries, path))
    },
    read: async (blob, limit) => {
      const bytes = await blobs.get(blob)
      const isEnough = bytes !== undefined && (limit === undefined || bytes.length <= limit)
      return isEnough ? bytes : repository.read(blob, limit)
    },
  }
}

/** Binary search: entries are sorted, and an index would cost more. */
function findTreeEntry(entries: readonly TreePathEntry[], path: string): TreeEntry | undefined {
  const found = entries[findLowerBound(entries, path, (entry) => entry.path)]
  return found?.path === path ? { mode: found.mode, oid: found.oid } : undefined
}

/** Entries below a directory are contiguous. */
function findTreeEntriesBelow(prefix: string, entries: readonly TreePathEntry[]): readonly TreePathEntry[] {
  const directory = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  if (directory === '') return entries
  const start = `${directory}/`
  const first = findLowerBound(entries, start, (entry) => entry.path)
  let end = first
  while (entries[end]?.path.startsWith(start)) end++
  return entries.slice(first, end)
}
