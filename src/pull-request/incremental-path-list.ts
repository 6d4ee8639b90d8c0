// Caches values derived from a tree's path list. Successive trees differ in a few of tens of thousands of paths, so
// values are updated from the difference. Results are the same as without the cache.
import type { TreeEntry, TreePathEntry } from './change.ts'

type PathOrPathEntry = string | { readonly path: string }

/** The entries that a list lost and gained, both sorted by path. A changed entry is in both. */
export interface PathListPatch<Entry extends PathOrPathEntry> {
  readonly removed: readonly Entry[]
  readonly added: readonly Entry[]
}

interface PathListDerivation {
  /** Weak, because a branch's tips form an endless chain. */
  readonly from: WeakRef<readonly PathOrPathEntry[]>
  readonly patch: PathListPatch<PathOrPathEntry>
}

const derivationByPathList = new WeakMap<readonly PathOrPathEntry[], PathListDerivation>()

/** Recomputing costs no more than following a longer chain. */
const maxPathListPatchChainLength = 32

const maxSublistsBeforeFlattening = 10_000

const getEntryPath = (entry: PathOrPathEntry): string => (typeof entry === 'string' ? entry : entry.path)

/** Applies the differences and stores the origin. Returns the list itself if there are no differences. */
export function applyPathListPatch<Entry extends PathOrPathEntry>(
  list: readonly Entry[],
  patch: PathListPatch<Entry>,
): readonly Entry[] {
  const { removed, added } = patch
  if (removed.length === 0 && added.length === 0) return list
  const removedPaths = new Set(removed.map(getEntryPath))
  const arriving = new Map(added.map((entry) => [getEntryPath(entry), entry]))
  const steps = [...new Set([...removedPaths, ...arriving.keys()])].sort()
  let patched: Entry[] = []
  // Copies unchanged runs as a whole, which is much faster than entry by entry.
  let runs: (readonly Entry[])[] = []
  const join = () => {
    patched = patched.concat(...runs)
    runs = []
  }
  let next = 0
  for (const path of steps) {
    const at = findLowerBound(list, path, next)
    if (at > next) runs.push(list.slice(next, at))
    const here = list[at]
    next = here !== undefined && removedPaths.has(path) && getEntryPath(here) === path ? at + 1 : at
    const entry = arriving.get(path)
    if (entry !== undefined) runs.push([entry])
    if (runs.length > maxSublistsBeforeFlattening) join()
  }
  runs.push(list.slice(next))
  join()
  derivationByPathList.set(patched, { from: new WeakRef(list), patch })
  return patched
}

/**
 * Computes a value with `full`, or with `patched` from the value of the list's origin. Both must return the same
 * result. Cached for the lifetime of the list.
 */
export function memoizeByPathList<Entry extends PathOrPathEntry, Value>(
  full: (list: readonly Entry[]) => Value,
  patched: (value: Value, patch: PathListPatch<Entry>) => Value,
): (list: readonly Entry[]) => Value {
  const made = new WeakMap<readonly PathOrPathEntry[], { readonly value: Value }>()
  return (list) => {
    const steps: { readonly to: readonly PathOrPathEntry[]; readonly patch: PathListPatch<Entry> }[] = []
    let from: readonly PathOrPathEntry[] | undefined = list
    let known = made.get(list)
    while (known === undefined && from !== undefined && steps.length < maxPathListPatchChainLength) {
      const origin: PathListDerivation | undefined = derivationByPathList.get(from)
      // An origin is always a list of the same kind.
      if (origin !== undefined) steps.push({ to: from, patch: origin.patch as PathListPatch<Entry> })
      from = origin?.from.deref()
      known = from && made.get(from)
    }
    if (known === undefined) made.set(list, (known = { value: full(list) }))
    else
      for (const { to, patch } of steps.reverse())
        made.set(to, (known = { value: patched(known.value, patch) }))
    return known.value
  }
}

/** Filters a list in order. Returns the same object until a member changes. */
export function createPathListFilter<Entry extends PathOrPathEntry>(isWanted: (entry: Entry) => boolean) {
  return memoizeByPathList<Entry, readonly Entry[]>(
    (list) => list.filter(isWanted),
    (paths, { removed, added }) =>
      applyPathListPatch(paths, { removed: removed.filter(isWanted), added: added.filter(isWanted) }),
  )
}

/** Counts members by key, ignoring those without one. Returns the same object until a key changes. */
export function createDistinctKeyCollector<Entry extends PathOrPathEntry>(
  keyOf: (entry: Entry) => string | undefined,
): (list: readonly Entry[]) => ReadonlySet<string> {
  const change = (counts: Map<string, number>, entries: readonly Entry[], by: number) => {
    for (const entry of entries) {
      const key = keyOf(entry)
      if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + by)
    }
  }
  const counted = memoizeByPathList<
    Entry,
    { readonly counts: ReadonlyMap<string, number>; keys: ReadonlySet<string> }
  >(
    (list) => {
      const counts = new Map<string, number>()
      change(counts, list, 1)
      return { counts, keys: new Set(counts.keys()) }
    },
    (value, { removed, added }) => {
      const changes = new Map<string, number>()
      change(changes, removed, -1)
      change(changes, added, 1)
      if ([...changes.values()].every((by) => by === 0)) return value
      const counts = new Map(value.counts)
      for (const [key, by] of changes) counts.set(key, (counts.get(key) ?? 0) + by)
      const isSame = [...changes.keys()].every((key) => value.keys.has(key) === (counts.get(key) ?? 0) > 0)
      for (const key of changes.keys()) if (counts.get(key) === 0) counts.delete(key)
      return { counts, keys: isSame ? value.keys : new Set(counts.keys()) }
    },
  )
  return (list) => counted(list).keys
}

/** The paths of entries. Returns the same object for related trees with the same paths. */
export const getTreeEntryPaths = memoizeByPathList<TreePathEntry, readonly string[]>(
  (entries) => entries.map(getEntryPath),
  (paths, { removed, added }) => {
    const [removedPaths, arriving] = [new Set(removed.map(getEntryPath)), new Set(added.map(getEntryPath))]
    return applyPathListPatch(paths, {
      removed: [...removedPaths].filter((path) => !arriving.has(path)),
      added: [...arriving].filter((path) => !removedPaths.has(path)),
    })
  },
)

/** Returns the first index from `start` at which the path is not before `path`, or the length. */
function findLowerBound(sorted: readonly PathOrPathEntry[], path: string, start = 0): number {
  let low = start
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = sorted[middle]
    if (entry !== undefined && getEntryPath(entry) < path) low = middle + 1
    else high = middle
  }
  return low
}

/** Binary search in sorted paths, because trees have tens of thousands of paths. */
export function hasPath(sorted: readonly string[], path: string): boolean {
  return sorted[findLowerBound(sorted, path)] === path
}

/** Whether any path is below the directory. All paths are below ''. */
export function hasPathInDirectory(sorted: readonly string[], directory: string): boolean {
  if (directory === '') return sorted.length > 0
  const prefix = `${directory}/`
  return sorted[findLowerBound(sorted, prefix)]?.startsWith(prefix) === true
}

/** Paths or entries below the directory, which may end with a slash. */
export function findPathsInDirectory<Entry extends PathOrPathEntry>(
  sorted: readonly Entry[],
  directory: string,
): readonly Entry[] {
  const name = directory.replace(/\/$/, '')
  if (name === '') return sorted
  // '0' follows the slash in ASCII.
  return sorted.slice(findLowerBound(sorted, `${name}/`), findLowerBound(sorted, `${name}0`))
}

/** The mode and the object of a path in sorted entries. */
export function findTreeEntry(sorted: readonly TreePathEntry[], path: string): TreeEntry | undefined {
  const found = sorted[findLowerBound(sorted, path)]
  return found?.path === path ? { mode: found.mode, oid: found.oid } : undefined
}
