// Whole listings of trees, and what trees differ in. The last listings are kept, and the listing of a tree that differs from
// one of them in little is made from it: a base that moved costs what moved. All of it is kept by tree id alone.
import type { TreeSha } from '../change/ids.ts'
import { patchList } from '../change/patched-list.ts'
import type { PathChange, ListedEntry, TreeEntry } from '../change/path-change.ts'
import { firstNotBefore } from '../change/sorted-paths.ts'
import { compareTreeObjects } from './compare-tree-objects.ts'
import { GitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { Objects } from './object-reader.ts'
import { parseTreeList } from './parse-output.ts'
import { encodePath } from './path-text.ts'
import {
  amount,
  bounded,
  diffTrees,
  findEntry,
  listDirectory,
  printTree,
  refuseLarge,
  tooManyPaths,
} from './trees.ts'

export interface Listings {
  /** See Repository.list. */
  readonly list: (tree: TreeSha, prefix: string) => Promise<readonly ListedEntry[]>
  /** See Repository.entry. */
  readonly entry: (tree: TreeSha, path: string) => Promise<TreeEntry | undefined>
  /** See Repository.diff. */
  readonly diff: (before: TreeSha, after: TreeSha) => Promise<readonly PathChange[]>
  /** Whether every tree object in which two trees differ is as git itself would write it, as far as that is looked at. */
  readonly isWellWritten: (before: TreeSha, after: TreeSha) => Promise<boolean>
}

interface Listing {
  readonly tree: TreeSha
  readonly entries: readonly ListedEntry[]
  /** As many as `git ls-tree` prints for them: what too large a tree is told by. */
  readonly bytes: number
}

/**
 * Of all mirrors of this process together. So many paths have some 80 MB where no listing shares its entries with another, and
 * a fifth of that where most do.
 */
const mostKept = { paths: 400_000, listings: 64 }
/** Kept listings that a new one is held against before git lists it. */
const mostCandidates = 4
/** One look at a pull request needs four, of which two are most often the same. */
const rememberedDifferences = 8
/** Paths of one difference: a few megabytes. */
const mostRemembered = 50_000
const rememberedCounts = 100

export function openListings(git: LocalGit, objects: Objects, mostPaths: number): Listings {
  const kept = new Map<TreeSha, Listing>()
  const making = new Map<TreeSha, Promise<Listing>>()
  const counts = new Map<TreeSha, Promise<void>>()
  const differences = new Map<string, Promise<readonly PathChange[] | undefined>>()

  const keep = (listing: Listing): void => {
    kept.delete(listing.tree)
    kept.set(listing.tree, listing)
    makeRoomFor(listing, () => {
      if (kept.get(listing.tree) === listing) kept.delete(listing.tree)
    })
  }

  const whole = (tree: TreeSha): Promise<Listing> => {
    const known = kept.get(tree)
    if (known !== undefined) {
      keep(known)
      return Promise.resolve(known)
    }
    const made = making.get(tree) ?? make(tree).finally(() => making.delete(tree))
    making.set(tree, made)
    return made
  }

  const make = async (tree: TreeSha): Promise<Listing> => {
    for (const candidate of [...kept.values()].reverse().slice(0, mostCandidates)) {
      const changes = await between(candidate.tree, tree)
      if (changes === undefined) continue
      const size = sizeAfter(candidate, changes)
      refuseSize(size)
      const listing = { tree, entries: patched(candidate.entries, changes), bytes: size.bytes }
      keep(listing)
      return listing
    }
    const output = await printTree(git, tree, mostPaths)
    const listing = { tree, entries: parseTreeList(output, ''), bytes: output.length }
    // A path twice is a malformed tree: nothing is made from it.
    if (listing.entries.every(({ path }, at) => path !== listing.entries[at + 1]?.path)) keep(listing)
    return listing
  }

  const refuseSize = ({ paths, bytes }: Size): void => {
    if (paths > mostPaths || bytes > bounded(mostPaths).limit)
      throw new GitError('too-large', tooManyPaths(mostPaths))
  }

  /** From the tree objects; undefined where only git can tell. */
  const between = (before: TreeSha, after: TreeSha): Promise<readonly PathChange[] | undefined> =>
    remembered(`${before} ${after}`, () => compareTreeObjects(objects, before, after))

  const remembered = <T extends readonly PathChange[] | undefined>(
    key: string,
    make: () => Promise<T>,
  ): Promise<T> => {
    // What is kept under a key is what its own `make` gave.
    const found = (differences.get(key) as Promise<T> | undefined) ?? make()
    differences.delete(key)
    differences.set(key, found)
    for (const oldest of differences.keys())
      if (differences.size > rememberedDifferences) differences.delete(oldest)
    const forget = () => {
      if (differences.get(key) === found) differences.delete(key)
    }
    found.then((changes) => {
      if (changes === undefined || changes.length > mostRemembered) forget()
    }, forget)
    return found
  }

  const small = (tree: TreeSha) => {
    const found = counts.get(tree) ?? refuseLarge(git, tree, mostPaths)
    found.catch(() => counts.delete(tree))
    counts.set(tree, found)
    for (const oldest of counts.keys()) if (counts.size > rememberedCounts) counts.delete(oldest)
    return found
  }

  const told = async (before: TreeSha, after: TreeSha): Promise<readonly PathChange[]> => {
    const changes = await between(before, after)
    if (changes === undefined || recordBytes(changes) > bounded(2 * mostPaths).limit) {
      await Promise.all([small(before), small(after)])
      return remembered(`git ${before} ${after}`, () => diffTrees(git, before, after, mostPaths))
    }
    // What is too large is so whichever way it is asked about.
    const known = kept.get(before) ?? (kept.has(after) ? undefined : await whole(before))
    if (known) refuseSize(sizeAfter(known, changes))
    else refuseSize(sizeAfter(await whole(after), changes.map(reversed)))
    if (changes.length > mostPaths)
      throw new GitError('too-large', `two trees differ in more than ${amount(mostPaths)} paths`)
    return changes
  }

  return {
    list: async (tree, prefix) => {
      const directory = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
      if (directory === '') return (await whole(tree)).entries
      const known = kept.get(tree) ?? (await making.get(tree)?.catch(() => undefined))
      return known
        ? entriesBelow(known.entries, directory)
        : listDirectory(git, objects, tree, directory, mostPaths)
    },
    entry: async (tree, path) => {
      const known = kept.get(tree)
      if (known === undefined) return findEntry(objects, tree, path)
      const found = known.entries[firstNotBefore(known.entries, path, (entry) => entry.path)]
      return found?.path === path ? { mode: found.mode, oid: found.oid } : undefined
    },
    isWellWritten: async (before, after) => (await between(before, after)) !== undefined,
    diff: async (before, after) => (before === after ? [] : told(before, after)),
  }
}

/** Each with how it is forgotten, the one that was used last at the end. */
const keptEverywhere = new Map<Listing, () => void>()

function makeRoomFor(listing: Listing, forget: () => void): void {
  keptEverywhere.delete(listing)
  keptEverywhere.set(listing, forget)
  const left = { ...mostKept }
  for (const [one, drop] of [...keptEverywhere].reverse()) {
    left.paths -= one.entries.length
    left.listings -= 1
    if (left.paths >= 0 && left.listings >= 0) continue
    keptEverywhere.delete(one)
    drop()
  }
}

interface Size {
  readonly paths: number
  readonly bytes: number
}

function sizeAfter({ entries, bytes }: Listing, changes: readonly PathChange[]): Size {
  let size = { paths: entries.length, bytes }
  for (const { path, before, after } of changes)
    size = {
      paths: size.paths + Number(after !== undefined) - Number(before !== undefined),
      bytes: size.bytes + lineLength(path, after) - lineLength(path, before),
    }
  return size
}

/** `mode type oid TAB path NUL` */
function lineLength(path: string, entry: TreeEntry | undefined): number {
  if (entry === undefined) return 0
  const type = entry.mode === '160000' ? 'commit' : 'blob'
  return entry.mode.length + type.length + entry.oid.length + encodedLength(path) + 4
}

function encodedLength(path: string): number {
  return path.isWellFormed() ? Buffer.byteLength(path) : encodePath(path).length
}

/** As many as `git diff-tree --raw` prints. */
function recordBytes(changes: readonly PathChange[]): number {
  let bytes = 0
  for (const { path, before, after } of changes)
    bytes += 2 * ((before ?? after)?.oid.length ?? 0) + encodedLength(path) + 20
  return bytes
}

function reversed({ path, before, after }: PathChange): PathChange {
  return { path, ...(after && { before: after }), ...(before && { after: before }) }
}

function patched(entries: readonly ListedEntry[], changes: readonly PathChange[]): readonly ListedEntry[] {
  return patchList(entries, {
    removed: changes.flatMap(({ path, before }) => (before ? [{ path, ...before }] : [])),
    added: changes.flatMap(({ path, after }) => (after ? [{ path, ...after }] : [])),
  })
}

function entriesBelow(entries: readonly ListedEntry[], directory: string): readonly ListedEntry[] {
  const at = (path: string) => firstNotBefore(entries, path, (entry) => entry.path)
  // '0' comes right after the slash.
  return entries.slice(at(`${directory}/`), at(`${directory}0`))
}
