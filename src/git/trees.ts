// Reads trees: differences, listings, single entries. Paths go to git neither as arguments nor as patterns: a path is
// followed tree by tree through its objects, byte for byte.
import { blobSha, treeSha, type TreeSha } from '../change/ids.ts'
import type { PathChange, TreeEntry } from '../change/path-change.ts'
import { GitError, isGitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { Objects } from './object-reader.ts'
import { parseRawDiff, parseTreeList, parseTreeObject } from './parse-output.ts'
import { encodePath } from './path-text.ts'

/** A tree object of 64 MB has about a million entries: nobody reads such a directory. */
const treeLimit = 64 * 1024 * 1024
const folderMode = '040000'

/** Differences between two trees: no rename detection, modes and submodules included, sorted by path. */
async function diffTrees(
  git: LocalGit,
  before: TreeSha,
  after: TreeSha,
  mostPaths: number,
): Promise<readonly PathChange[]> {
  if (before === after) return []
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
    '--ignore-submodules=none',
    '--end-of-options',
    before,
    after,
  ]
  const { stdout } = await counted(
    // Two records for a path: what became of it, and its name.
    () => git(args, bounded(2 * mostPaths)),
    `two trees differ in more than ${amount(mostPaths)} paths`,
  )
  return parseRawDiff(stdout)
}

/** A path of four kilobytes is one that somebody made to be that long: so many of them are too many all the same. */
const meanBytes = 400

function bounded(records: number) {
  return { records, limit: 1024 * 1024 + records * meanBytes }
}

/** Nine tree objects can stand for a billion paths: what git goes on to print is not waited for. */
async function counted<T>(work: () => Promise<T>, tooMany: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isGitError(error, 'too-large') ? new GitError('too-large', tooMany, { cause: error }) : error
  }
}

const amount = (count: number): string => count.toLocaleString('en')

/**
 * Differences between trees, the last of which are remembered: a merge is held against the plain rule by what it changes,
 * and then described by it, and its result is most often the head's own tree.
 */
export function rememberedDiffs(
  git: LocalGit,
  mostPaths: number,
): (before: TreeSha, after: TreeSha) => Promise<readonly PathChange[]> {
  const known = new Map<string, Promise<readonly PathChange[]>>()
  const counts = new Map<TreeSha, Promise<void>>()
  const small = (tree: TreeSha) => {
    const found = counts.get(tree) ?? refuseLarge(git, tree, mostPaths)
    found.catch(() => counts.delete(tree))
    counts.set(tree, found)
    for (const oldest of counts.keys()) if (counts.size > rememberedCounts) counts.delete(oldest)
    return found
  }
  const diffSmall = async (before: TreeSha, after: TreeSha) => {
    if (before !== after) await Promise.all([small(before), small(after)])
    return diffTrees(git, before, after, mostPaths)
  }
  return (before, after) => {
    const key = `${before} ${after}`
    const found = known.get(key) ?? diffSmall(before, after)
    known.delete(key)
    known.set(key, found)
    for (const oldest of known.keys()) if (known.size > rememberedDifferences) known.delete(oldest)
    const forget = () => {
      if (known.get(key) === found) known.delete(key)
    }
    found.then((changes) => {
      if (changes.length > mostRemembered) forget()
    }, forget)
    return found
  }
}

/**
 * Counts the paths of a tree while git lists them. `diff-tree` prints nothing before it has walked through all of both
 * trees and holds every difference in memory: what is too large has to be known before.
 */
async function refuseLarge(git: LocalGit, tree: TreeSha, mostPaths: number): Promise<void> {
  await counted(
    () =>
      git(
        ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', tree],
        bounded(mostPaths),
      ),
    `a tree holds more than ${amount(mostPaths)} paths`,
  )
}

const rememberedCounts = 100
/** One look at a pull request needs two. */
const rememberedDifferences = 2
/** Paths of one difference: a few megabytes. */
const mostRemembered = 50_000

/** Every file below the directory `prefix` ('' for all; a slash at its end counts for nothing), sorted by path. */
export async function listTree(
  git: LocalGit,
  objects: Objects,
  tree: TreeSha,
  prefix: string,
  mostPaths: number,
): Promise<readonly ({ readonly path: string } & TreeEntry)[]> {
  const folder = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  const start = folder === '' ? { mode: folderMode, oid: tree } : await find(objects, tree, folder)
  if (start?.mode !== folderMode) return []
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', treeSha(start.oid)]
  const { stdout } = await counted(
    () => git(args, bounded(mostPaths)),
    `a tree holds more than ${amount(mostPaths)} paths`,
  )
  return parseTreeList(stdout, folder === '' ? '' : `${folder}/`)
}

/** The file, symlink or submodule at a path; undefined for nothing and for a directory. */
export async function findEntry(
  objects: Objects,
  tree: TreeSha,
  path: string,
): Promise<TreeEntry | undefined> {
  const found = await find(objects, tree, path)
  return found === undefined || found.mode === folderMode
    ? undefined
    : { mode: found.mode, oid: blobSha(found.oid) }
}

async function find(
  objects: Objects,
  tree: TreeSha,
  path: string,
): Promise<{ mode: string; oid: string } | undefined> {
  let at: { mode: string; oid: string } | undefined = { mode: folderMode, oid: tree }
  for (const part of path.split('/')) {
    if (at.mode !== folderMode) return undefined
    const object = await objects.read(at.oid, treeLimit)
    if (object.type !== 'tree')
      throw new GitError('missing', `object ${at.oid} is a ${object.type}, not a tree`)
    const name = encodePath(part)
    at = undefined
    for (const entry of parseTreeObject(object.bytes, tree.length / 2))
      if (entry.name.equals(name)) at = { mode: entry.mode, oid: entry.oid }
    if (!at) return undefined
  }
  return at
}
