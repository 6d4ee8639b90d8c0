// Lists and compares entire trees. Recent listings are cached by tree ID. The listing of a similar tree is derived from
// a cached one, so a moved base costs only its changes.
import type { TreeSha } from '../../pull-request/ids.ts'
import {
  applyPathListPatch,
  findPathsInDirectory,
  findTreeEntry,
} from '../../pull-request/incremental-path-list.ts'
import type { PathChange, TreePathEntry, TreeEntry } from '../../pull-request/change.ts'
import { LruMap } from '../lru-map.ts'
import { GitError } from './git-error.ts'
import type { GitObjectReader } from './object-reader.ts'
import { parseLsTreeOutput, encodePath } from './parse-output.ts'
import {
  formatPathCount,
  getGitTreeOutputLimits,
  diffTrees,
  findTreeFileEntry,
  listDirectory,
  readTreeListing,
  rejectTreeWithTooManyPaths,
  formatTooManyPathsMessage,
  compareTreeObjects,
} from './trees.ts'
import type { GitRunner } from './run-git.ts'

interface TreeListing {
  readonly tree: TreeSha
  readonly entries: readonly TreePathEntry[]
  /** The size of `git ls-tree`'s output, which the limit counts. */
  readonly bytes: number
}

/** Over all mirrors of this process. Takes some 80 MB if listings share no entries, and usually a fifth of that. */
const treeListingCacheLimits = { paths: 400_000, listings: 64 }
/** Cached listings to compare with a new one before git lists it. */
const maxListingsToDiffAgainst = 4
/** One evaluation needs four, usually two of them the same. */
const maxCachedTreeDiffs = 8
/** Paths of one difference: a few megabytes. */
const maxCachedTreeDiffPaths = 50_000
const maxCachedTreePathCounts = 100

export class TreeListingCache {
  readonly #git: GitRunner
  readonly #objects: GitObjectReader
  readonly #maxPaths: number
  readonly #cachedListings = new Map<TreeSha, TreeListing>()
  readonly #making = new Map<TreeSha, Promise<TreeListing>>()
  readonly #counts = new LruMap<TreeSha, Promise<void>>(maxCachedTreePathCounts, () => 1)
  readonly #differences = new LruMap<string, Promise<readonly PathChange[] | undefined>>(
    maxCachedTreeDiffs,
    () => 1,
  )

  constructor(git: GitRunner, objects: GitObjectReader, maxPaths: number) {
    this.#git = git
    this.#objects = objects
    this.#maxPaths = maxPaths
  }

  readonly list = async (tree: TreeSha, prefix: string): Promise<readonly TreePathEntry[]> => {
    const directory = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
    if (directory === '') return (await this.#listWhole(tree)).entries
    const known = this.#cachedListings.get(tree) ?? (await this.#making.get(tree)?.catch(() => undefined))
    return known
      ? findPathsInDirectory(known.entries, directory)
      : listDirectory(this.#git, this.#objects, tree, directory, this.#maxPaths)
  }

  readonly entry = async (tree: TreeSha, path: string): Promise<TreeEntry | undefined> => {
    const known = this.#cachedListings.get(tree)
    if (known === undefined) return findTreeFileEntry(this.#objects, tree, path)
    return findTreeEntry(known.entries, path)
  }

  /** Whether the tree objects in which two trees differ are written as git would, as far as checked. */
  readonly isWellWritten = async (before: TreeSha, after: TreeSha): Promise<boolean> =>
    (await this.#compareObjects(before, after)) !== undefined
  readonly diff = async (before: TreeSha, after: TreeSha): Promise<readonly PathChange[]> =>
    before === after ? [] : this.#readDiff(before, after)

  #cacheListing(listing: TreeListing): void {
    this.#cachedListings.delete(listing.tree)
    this.#cachedListings.set(listing.tree, listing)
    cacheListingAndEvictOldest(listing, () => {
      if (this.#cachedListings.get(listing.tree) === listing) this.#cachedListings.delete(listing.tree)
    })
  }

  #listWhole(tree: TreeSha): Promise<TreeListing> {
    const known = this.#cachedListings.get(tree)
    if (known !== undefined) {
      this.#cacheListing(known)
      return Promise.resolve(known)
    }
    const made = this.#making.get(tree) ?? this.#buildListing(tree).finally(() => this.#making.delete(tree))
    this.#making.set(tree, made)
    return made
  }

  async #buildListing(tree: TreeSha): Promise<TreeListing> {
    for (const candidate of [...this.#cachedListings.values()].reverse().slice(0, maxListingsToDiffAgainst)) {
      const changes = await this.#compareObjects(candidate.tree, tree)
      if (changes === undefined) continue
      const size = computeListingSizeAfterChanges(candidate, changes)
      this.#rejectOversize(size)
      const listing = { tree, entries: applyPathChanges(candidate.entries, changes), bytes: size.bytes }
      this.#cacheListing(listing)
      return listing
    }
    const output = await readTreeListing(this.#git, tree, this.#maxPaths)
    const listing = { tree, entries: parseLsTreeOutput(output, ''), bytes: output.length }
    // A duplicate path means a malformed tree: derive nothing from it.
    if (listing.entries.every(({ path }, at) => path !== listing.entries[at + 1]?.path))
      this.#cacheListing(listing)
    return listing
  }

  #rejectOversize({ paths, bytes }: TreeListingSize): void {
    if (paths > this.#maxPaths || bytes > getGitTreeOutputLimits(this.#maxPaths).limit)
      throw new GitError('too-large', formatTooManyPathsMessage(this.#maxPaths))
  }

  /** Undefined if only Git can determine it. */
  #compareObjects(before: TreeSha, after: TreeSha): Promise<readonly PathChange[] | undefined> {
    return this.#getCachedDiff(`${before} ${after}`, () => compareTreeObjects(this.#objects, before, after))
  }

  #getCachedDiff<T extends readonly PathChange[] | undefined>(
    key: string,
    make: () => Promise<T>,
  ): Promise<T> {
    // Each key is only ever used with one `make`.
    const pending = (this.#differences.get(key) as Promise<T> | undefined) ?? make()
    this.#differences.set(key, pending)
    const dropDiff = () => {
      if (this.#differences.get(key) === pending) this.#differences.delete(key)
    }
    pending.then((changes) => {
      if (changes === undefined || changes.length > maxCachedTreeDiffPaths) dropDiff()
    }, dropDiff)
    return pending
  }

  #checkSize(tree: TreeSha) {
    const pending = this.#counts.get(tree) ?? rejectTreeWithTooManyPaths(this.#git, tree, this.#maxPaths)
    pending.catch(() => this.#counts.delete(tree))
    this.#counts.set(tree, pending)
    return pending
  }

  async #readDiff(before: TreeSha, after: TreeSha): Promise<readonly PathChange[]> {
    const changes = await this.#compareObjects(before, after)
    if (
      changes === undefined ||
      measureRawDiffBytes(changes) > getGitTreeOutputLimits(2 * this.#maxPaths).limit
    ) {
      await Promise.all([this.#checkSize(before), this.#checkSize(after)])
      return this.#getCachedDiff(`git ${before} ${after}`, () =>
        diffTrees(this.#git, before, after, this.#maxPaths),
      )
    }
    // The size limit must not depend on the order of questions.
    const isAfterListed = !this.#cachedListings.has(before) && this.#cachedListings.has(after)
    const listing = await this.#listWhole(isAfterListed ? after : before)
    const fromThere = isAfterListed ? changes.map(reversePathChange) : changes
    this.#rejectOversize(computeListingSizeAfterChanges(listing, fromThere))
    if (changes.length > this.#maxPaths)
      throw new GitError(
        'too-large',
        `two trees differ in more than ${formatPathCount(this.#maxPaths)} paths`,
      )
    return changes
  }
}

/** Each with its removal, least recently used first. */
const globalTreeListingCache = new Map<TreeListing, () => void>()

function cacheListingAndEvictOldest(listing: TreeListing, evict: () => void): void {
  globalTreeListingCache.delete(listing)
  globalTreeListingCache.set(listing, evict)
  const remaining = { ...treeListingCacheLimits }
  for (const [one, drop] of [...globalTreeListingCache].reverse()) {
    remaining.paths -= one.entries.length
    remaining.listings -= 1
    if (remaining.paths >= 0 && remaining.listings >= 0) continue
    globalTreeListingCache.delete(one)
    drop()
  }
}

interface TreeListingSize {
  readonly paths: number
  readonly bytes: number
}

function computeListingSizeAfterChanges(
  { entries, bytes }: TreeListing,
  changes: readonly PathChange[],
): TreeListingSize {
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
function measureRawDiffBytes(changes: readonly PathChange[]): number {
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
