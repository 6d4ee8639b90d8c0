// The trees that one look at a pull request is about: what it has listed and read of them is not asked of git again,
// whoever wants it and however often. A look at ten thousand files is no ten thousand questions.
import type { BlobSha, TreeSha } from '../change/ids.ts'
import type { ListedEntry, TreeEntry } from '../change/path-change.ts'
import { firstNotBefore } from '../change/sorted-paths.ts'
import type { ReadTree } from '../ports/repository.ts'

export interface Known {
  /** All files of whole trees, as the repository lists them. */
  readonly trees: ReadonlyMap<TreeSha, readonly ListedEntry[]>
  /** What is read already, or on its way. */
  readonly blobs: ReadonlyMap<BlobSha, Promise<Uint8Array>>
}

/** Reads what is not known from `repository`, and refuses what it would refuse. */
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

/** Entries are sorted: looking one up costs less than an index of them all. */
function entryIn(entries: readonly ListedEntry[], path: string): TreeEntry | undefined {
  const found = entries[firstNotBefore(entries, path, (entry) => entry.path)]
  return found?.path === path ? { mode: found.mode, oid: found.oid } : undefined
}

/** The entries below a directory: they stand together. */
function below(prefix: string, entries: readonly ListedEntry[]): readonly ListedEntry[] {
  const directory = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  if (directory === '') return entries
  const start = `${directory}/`
  const first = firstNotBefore(entries, start, (entry) => entry.path)
  let end = first
  while (entries[end]?.path.startsWith(start)) end++
  return entries.slice(first, end)
}
