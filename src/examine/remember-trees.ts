// Caches what one look has listed and read of its trees, so that no file is read from git twice.
import type { BlobSha, TreeSha } from '../change/ids.ts'
import type { ListedEntry, TreeEntry } from '../change/path-change.ts'
import { firstNotBefore } from '../change/sorted-paths.ts'
import type { ReadTree } from '../ports/repository.ts'

export interface Known {
  readonly trees: ReadonlyMap<TreeSha, readonly ListedEntry[]>
  /** Blobs that are read or being read. */
  readonly blobs: ReadonlyMap<BlobSha, Promise<Uint8Array>>
}

/** Falls back to `repository`, with its limits and errors. */
export function rememberTrees(repository: ReadTree, { trees, blobs }: Known): ReadTree {
  return {
    list: (tree, prefix = '') => {
      const entries = trees.get(tree)
      return entries === undefined ? repository.list(tree, prefix) : Promise.resolve(below(prefix, entries))
    },
    entry: (tree, path) => {
      const entries = trees.get(tree)
      return entries === undefined ? repository.entry(tree, path) : Promise.resolve(entryIn(entries, path))
    },
    read: async (blob, limit) => {
      const bytes = await blobs.get(blob)
      const isEnough = bytes !== undefined && (limit === undefined || bytes.length <= limit)
      return isEnough ? bytes : repository.read(blob, limit)
    },
  }
}

/** Binary search: entries are sorted, and an index would cost more. */
function entryIn(entries: readonly ListedEntry[], path: string): TreeEntry | undefined {
  const found = entries[firstNotBefore(entries, path, (entry) => entry.path)]
  return found?.path === path ? { mode: found.mode, oid: found.oid } : undefined
}

/** Entries below a directory are contiguous. */
function below(prefix: string, entries: readonly ListedEntry[]): readonly ListedEntry[] {
  const directory = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  if (directory === '') return entries
  const start = `${directory}/`
  const first = firstNotBefore(entries, start, (entry) => entry.path)
  let end = first
  while (entries[end]?.path.startsWith(start)) end++
  return entries.slice(first, end)
}
