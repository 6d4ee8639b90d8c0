// Lists and compares whole trees. Recent listings are kept by tree id, and a similar tree's listing is derived from
// one, so a moved base costs only its changes.
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
  readonly list: (tree: TreeSha, prefix: string) => Promise<readonly ListedEntry[]>
  readonly entry: (tree: TreeSha, path: string) => Promise<TreeEntry | undefined>
  readonly diff: (before: TreeSha, after: TreeSha) => Promise<readonly PathChange[]>
  /** Whether the tree objects in which two trees differ are written as git would, as far as checked. */
  readonly isWellWritten: (before: TreeSha, after: TreeSha) => Promise<boolean>
}

interface Listing {
  readonly tree: TreeSha
  readonly entries: readonly ListedEntry[]
  /** The size of `git ls-tree`'s output, which the limit counts. */
  readonly bytes: number
}

/**
 * Over all mirrors of this process. So many paths take some 80 MB if listings share no entries, and usually a fifth of
 * that.
 */
const mostKept = { paths: 400_000, listings: 64 }
/** Kept listings to compare with a new one before git lists it. */
const mostCandidates = 4
/** One look needs four, usually two of them the same. */
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
    // A duplicate path means a malformed tree: derive nothing from it.
    if (listing.entries.every(({ path }, at) => path !== listing.entries[at + 1]?.path)) keep(listing)
    return listing
  }

  const refuseSize = ({ paths, bytes }: Size): void => {
    if (paths > mostPaths || bytes > bounded(mostPaths).limit)
      throw new GitError('too-large', tooManyPaths(mostPaths))
  }

  /** Undefined: only git can tell. */
  const between = (before: TreeSha, after: TreeSha): Promise<readonly PathChange[] | undefined> =>
    remembered(`${before} ${after}`, () => compareTreeObjects(objects, before, after))

  const remembered = <T extends readonly PathChange[] | undefined>(
    key: string,
    make: () => Promise<T>,
  ): Promise<T> => {
    // Each key is only ever used with one `make`.
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
    // The size limit must not depend on the order of questions.
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

/** Each with its removal, least recently used first. */
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

/** The size of `git diff-tree --raw`'s output. */
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
  // '0' follows the slash.
  return entries.slice(at(`${directory}/`), at(`${directory}0`))
}
