// Lists and compares whole trees. Recent listings are kept by tree id, and a similar tree's listing is derived from
// one, so a moved base costs only its changes.
import type { TreeSha } from '../../pull-request/ids.ts'
import { applyPathListPatch, findLowerBound } from '../../pull-request/incremental-list.ts'
import type { PathChange, TreePathEntry, TreeEntry } from '../../pull-request/change.ts'
import { compareTreeObjects } from './compare-tree-objects.ts'
import { GitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { GitObjectReader } from './object-reader.ts'
import { parseLsTreeOutput } from './parse-output.ts'
import { encodePath } from './path-text.ts'
import {
  formatPathCount,
  getTreeRecordOutputLimits,
  diffTrees,
  findTreeFileEntry,
  listDirectory,
  readTreeListing,
  rejectTreeWithTooManyPaths,
  formatTooManyPathsMessage,
} from './trees.ts'

export interface TreeListingCache {
  readonly list: (tree: TreeSha, prefix: string) => Promise<readonly TreePathEntry[]>
  readonly entry: (tree: TreeSha, path: string) => Promise<TreeEntry | undefined>
  readonly diff: (before: TreeSha, after: TreeSha) => Promise<readonly PathChange[]>
  /** Whether the tree objects in which two trees differ are written as git would, as far as checked. */
  readonly isWellWritten: (before: TreeSha, after: TreeSha) => Promise<boolean>
}

interface TreeListing {
  readonly tree: TreeSha
  readonly entries: readonly TreePathEntry[]
  /** The size of `git ls-tree`'s output, which the limit counts. */
  readonly bytes: number
}

/**
 * Over all mirrors of this process. So many paths take some 80 MB if listings share no entries, and usually a fifth of
 * that.
 */
const listingCacheLimits = { paths: 400_000, listings: 64 }
/** Kept listings to compare with a new one before git lists it. */
const maxListingDiffCandidates = 4
/** One evaluation needs four, usually two of them the same. */
const maxCachedTreeDiffs = 8
/** Paths of one difference: a few megabytes. */
const maxCachedTreeDiffPaths = 50_000
const maxCachedPathCounts = 100

export function createTreeListingCache(
  git: LocalGit,
  objects: GitObjectReader,
  maxPaths: number,
): TreeListingCache {
  const cachedListings = new Map<TreeSha, TreeListing>()
  const making = new Map<TreeSha, Promise<TreeListing>>()
  const counts = new Map<TreeSha, Promise<void>>()
  const differences = new Map<string, Promise<readonly PathChange[] | undefined>>()

  const cacheListing = (listing: TreeListing): void => {
    cachedListings.delete(listing.tree)
    cachedListings.set(listing.tree, listing)
    cacheListingAndEvictOldest(listing, () => {
      if (cachedListings.get(listing.tree) === listing) cachedListings.delete(listing.tree)
    })
  }

  const listWhole = (tree: TreeSha): Promise<TreeListing> => {
    const known = cachedListings.get(tree)
    if (known !== undefined) {
      cacheListing(known)
      return Promise.resolve(known)
    }
    const made = making.get(tree) ?? buildListing(tree).finally(() => making.delete(tree))
    making.set(tree, made)
    return made
  }

  const buildListing = async (tree: TreeSha): Promise<TreeListing> => {
    for (const candidate of [...cachedListings.values()].reverse().slice(0, maxListingDiffCandidates)) {
      const changes = await compareObjects(candidate.tree, tree)
      if (changes === undefined) continue
      const size = computeListingSizeAfterChanges(candidate, changes)
      rejectOversize(size)
      const listing = { tree, entries: applyPathChanges(candidate.entries, changes), bytes: size.bytes }
      cacheListing(listing)
      return listing
    }
    const output = await readTreeListing(git, tree, maxPaths)
    const listing = { tree, entries: parseLsTreeOutput(output, ''), bytes: output.length }
    // A duplicate path means a malformed tree: derive nothing from it.
    if (listing.entries.every(({ path }, at) => path !== listing.entries[at + 1]?.path)) cacheListing(listing)
    return listing
  }

  const rejectOversize = ({ paths, bytes }: ListingSize): void => {
    if (paths > maxPaths || bytes > getTreeRecordOutputLimits(maxPaths).limit)
      throw new GitError('too-large', formatTooManyPathsMessage(maxPaths))
  }

  /** Undefined: only git can tell. */
  const compareObjects = (before: TreeSha, after: TreeSha): Promise<readonly PathChange[] | undefined> =>
    getCachedDiff(`${before} ${after}`, () => compareTreeObjects(objects, before, after))

  const getCachedDiff = <T extends readonly PathChange[] | undefined>(
    key: string,
    make: () => Promise<T>,
  ): Promise<T> => {
    // Each key is only ever used with one `make`.
    const pending = (differences.get(key) as Promise<T> | undefined) ?? make()
    differences.delete(key)
    differences.set(key, pending)
    for (const oldest of differences.keys())
      if (differences.size > maxCachedTreeDiffs) differences.delete(oldest)
    const dropDiff = () => {
      if (differences.get(key) === pending) differences.delete(key)
    }
    pending.then((changes) => {
      if (changes === undefined || changes.length > maxCachedTreeDiffPaths) dropDiff()
    }, dropDiff)
    return pending
  }

  const checkSize = (tree: TreeSha) => {
    const pending = counts.get(tree) ?? rejectTreeWithTooManyPaths(git, tree, maxPaths)
    pending.catch(() => counts.delete(tree))
    counts.set(tree, pending)
    for (const oldest of counts.keys()) if (counts.size > maxCachedPathCounts) counts.delete(oldest)
    return pending
  }

  const readDiff = async (before: TreeSha, after: TreeSha): Promise<readonly PathChange[]> => {
    const changes = await compareObjects(before, after)
    if (
      changes === undefined ||
      computeRawDiffBytes(changes) > getTreeRecordOutputLimits(2 * maxPaths).limit
    ) {
      await Promise.all([checkSize(before), checkSize(after)])
      return getCachedDiff(`git ${before} ${after}`, () => diffTrees(git, before, after, maxPaths))
    }
    // The size limit must not depend on the order of questions.
    const known =
      cachedListings.get(before) ?? (cachedListings.has(after) ? undefined : await listWhole(before))
    if (known) rejectOversize(computeListingSizeAfterChanges(known, changes))
    else
      rejectOversize(computeListingSizeAfterChanges(await listWhole(after), changes.map(reversePathChange)))
    if (changes.length > maxPaths)
      throw new GitError('too-large', `two trees differ in more than ${formatPathCount(maxPaths)} paths`)
    return changes
  }

  return {
    list: async (tree, prefix) => {
      const directory = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
      if (directory === '') return (await listWhole(tree)).entries
      const known = cachedListings.get(tree) ?? (await making.get(tree)?.catch(() => undefined))
      return known
        ? selectEntriesInDirectory(known.entries, directory)
        : listDirectory(git, objects, tree, directory, maxPaths)
    },
    entry: async (tree, path) => {
      const known = cachedListings.get(tree)
      if (known === undefined) return findTreeFileEntry(objects, tree, path)
      const found = known.entries[findLowerBound(known.entries, path, (entry) => entry.path)]
      return found?.path === path ? { mode: found.mode, oid: found.oid } : undefined
    },
    isWellWritten: async (before, after) => (await compareObjects(before, after)) !== undefined,
    diff: async (before, after) => (before === after ? [] : readDiff(before, after)),
  }
}

/** Each with its removal, least recently used first. */
const globalTreeListingCache = new Map<TreeListing, () => void>()

function cacheListingAndEvictOldest(listing: TreeListing, evict: () => void): void {
  globalTreeListingCache.delete(listing)
  globalTreeListingCache.set(listing, evict)
  const remaining = { ...listingCacheLimits }
  for (const [one, drop] of [...globalTreeListingCache].reverse()) {
    remaining.paths -= one.entries.length
    remaining.listings -= 1
    if (remaining.paths >= 0 && remaining.listings >= 0) continue
    globalTreeListingCache.delete(one)
    drop()
  }
}

interface ListingSize {
  readonly paths: number
  readonly bytes: number
}

function computeListingSizeAfterChanges(
  { entries, bytes }: TreeListing,
  changes: readonly PathChange[],
): ListingSize {
  let size = { paths: entries.length, bytes }
  for (const { path, before, after } of changes)
    size = {
      paths: size.paths + Number(after !== undefined) - Number(before !== undefined),
      bytes: size.bytes + getLsTreeLineLength(path, after) - getLsTreeLineLength(path, before),
    }
  return size
}

/** `mode type oid TAB path NUL` */
function getLsTreeLineLength(path: string, entry: TreeEntry | undefined): number {
  if (entry === undefined) return 0
  const type = entry.mode === '160000' ? 'commit' : 'blob'
  return entry.mode.length + type.length + entry.oid.length + getEncodedPathLength(path) + 4
}

function getEncodedPathLength(path: string): number {
  return path.isWellFormed() ? Buffer.byteLength(path) : encodePath(path).length
}

/** The size of `git diff-tree --raw`'s output. */
function computeRawDiffBytes(changes: readonly PathChange[]): number {
  let bytes = 0
  for (const { path, before, after } of changes)
    bytes += 2 * ((before ?? after)?.oid.length ?? 0) + getEncodedPathLength(path) + 20
  return bytes
}

function reversePathChange({ path, before, after }: PathChange): PathChange {
  return { path, ...(after && { before: after }), ...(before && { after: before }) }
}

function applyPathChanges(
  entries: readonly TreePathEntry[],
  changes: readonly PathChange[],
): readonly TreePathEntry[] {
  return applyPathListPatch(entries, {
    removed: changes.flatMap(({ path, before }) => (before ? [{ path, ...before }] : [])),
    added: changes.flatMap(({ path, after }) => (after ? [{ path, ...after }] : [])),
  })
}

function selectEntriesInDirectory(
  entries: readonly TreePathEntry[],
  directory: string,
): readonly TreePathEntry[] {
  const at = (path: string) => findLowerBound(entries, path, (entry) => entry.path)
  // '0' follows the slash.
  return entries.slice(at(`${directory}/`), at(`${directory}0`))
}
