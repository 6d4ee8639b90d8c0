// Reads trees: differences, listings, single entries. Paths go to git neither as arguments nor as patterns: a path is
// followed tree by tree through its objects, byte for byte.
import { blobSha, treeSha, type TreeSha } from '../change/ids.ts'
import type { PathChange, ListedEntry, TreeEntry } from '../change/path-change.ts'
import { GitError, isGitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { Objects } from './object-reader.ts'
import { parseRawDiff, parseTreeList, parseTreeObject } from './parse-output.ts'
import { encodePath } from './path-text.ts'

/** A tree object of 64 MB has about a million entries: nobody reads such a directory. */
const treeLimit = 64 * 1024 * 1024
const folderMode = '040000'

/** Differences between two trees: no rename detection, modes and submodules included, sorted by path. */
export async function diffTrees(
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

/** A path of four kilobytes was made to be that long, so many of them are too many anyway. */
const meanBytes = 400

export function bounded(records: number) {
  return { records, limit: 1024 * 1024 + records * meanBytes }
}

/** Nine tree objects can describe a billion paths, so stop reading early. */
async function counted<T>(work: () => Promise<T>, tooMany: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isGitError(error, 'too-large') ? new GitError('too-large', tooMany, { cause: error }) : error
  }
}

export const amount = (count: number): string => count.toLocaleString('en')

export const tooManyPaths = (mostPaths: number): string => `a tree holds more than ${amount(mostPaths)} paths`

/**
 * Counts the paths of a tree while git lists them. `diff-tree` prints nothing before it has walked through all of both
 * trees and holds every difference in memory: what is too large has to be known before.
 */
export async function refuseLarge(git: LocalGit, tree: TreeSha, mostPaths: number): Promise<void> {
  await counted(
    () =>
      git(
        ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', tree],
        bounded(mostPaths),
      ),
    tooManyPaths(mostPaths),
  )
}

/** Every file below a directory, sorted by path. */
export async function listDirectory(
  git: LocalGit,
  objects: Objects,
  tree: TreeSha,
  directory: string,
  mostPaths: number,
): Promise<readonly ListedEntry[]> {
  const start = await find(objects, tree, directory)
  if (start?.mode !== folderMode) return []
  return parseTreeList(await printTree(git, treeSha(start.oid), mostPaths), `${directory}/`)
}

export async function printTree(git: LocalGit, tree: TreeSha, mostPaths: number): Promise<Buffer> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', tree]
  const { stdout } = await counted(() => git(args, bounded(mostPaths)), tooManyPaths(mostPaths))
  return stdout
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
