// Reads trees: differences, listings, single entries. Paths go to git neither as arguments nor as patterns: a path is
// followed tree by tree through its objects, byte for byte.
import { toBlobSha, toTreeSha, type TreeSha } from '../../pull-request/ids.ts'
import type { PathChange, TreePathEntry, TreeEntry } from '../../pull-request/path-change.ts'
import { GitError, isGitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { GitObjects } from './object-reader.ts'
import { parseRawDiff, parseTreeList, parseTreeObject } from './parse-output.ts'
import { encodePath } from './path-text.ts'

/** A tree object of 64 MB has about a million entries, which is too many for any real directory. */
const maxTreeBytes = 64 * 1024 * 1024
const treeMode = '040000'

/** Differences between two trees: no rename detection, modes and submodules included, sorted by path. */
export async function diffTrees(
  git: LocalGit,
  before: TreeSha,
  after: TreeSha,
  maxPaths: number,
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
  const { stdout } = await toTooManyPathsError(
    // Each path has two records: the change and the name.
    () => git(args, getTreeRecordOutputLimits(2 * maxPaths)),
    `two trees differ in more than ${formatPathCount(maxPaths)} paths`,
  )
  return parseRawDiff(stdout)
}

/** Longer paths on average are deliberate, so a tree that exceeds this is too large anyway. */
const maxMeanTreeRecordBytes = 400

export function getTreeRecordOutputLimits(records: number) {
  return { records, limit: 1024 * 1024 + records * maxMeanTreeRecordBytes }
}

/** Nine tree objects can describe a billion paths, so stop reading early. */
async function toTooManyPathsError<T>(work: () => Promise<T>, tooMany: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isGitError(error, 'too-large') ? new GitError('too-large', tooMany, { cause: error }) : error
  }
}

export const formatPathCount = (count: number): string => count.toLocaleString('en')

export const formatTooManyPaths = (maxPaths: number): string =>
  `a tree contains more than ${formatPathCount(maxPaths)} paths`

/**
 * Counts the paths of a tree while git lists them. `diff-tree` prints nothing before it has walked through all of both
 * trees and holds every difference in memory: what is too large has to be known before.
 */
export async function rejectLargeTree(git: LocalGit, tree: TreeSha, maxPaths: number): Promise<void> {
  await toTooManyPathsError(
    () =>
      git(
        ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', tree],
        getTreeRecordOutputLimits(maxPaths),
      ),
    formatTooManyPaths(maxPaths),
  )
}

/** Every file below a directory, sorted by path. */
export async function listDirectory(
  git: LocalGit,
  objects: GitObjects,
  tree: TreeSha,
  directory: string,
  maxPaths: number,
): Promise<readonly TreePathEntry[]> {
  const start = await findTreeObject(objects, tree, directory)
  if (start?.mode !== treeMode) return []
  return parseTreeList(await readTreeListing(git, toTreeSha(start.oid), maxPaths), `${directory}/`)
}

export async function readTreeListing(git: LocalGit, tree: TreeSha, maxPaths: number): Promise<Buffer> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', tree]
  const { stdout } = await toTooManyPathsError(
    () => git(args, getTreeRecordOutputLimits(maxPaths)),
    formatTooManyPaths(maxPaths),
  )
  return stdout
}

/** The file, symlink or submodule at a path; undefined for nothing and for a directory. */
export async function findTreeFileEntry(
  objects: GitObjects,
  tree: TreeSha,
  path: string,
): Promise<TreeEntry | undefined> {
  const found = await findTreeObject(objects, tree, path)
  return found === undefined || found.mode === treeMode
    ? undefined
    : { mode: found.mode, oid: toBlobSha(found.oid) }
}

async function findTreeObject(
  objects: GitObjects,
  tree: TreeSha,
  path: string,
): Promise<{ mode: string; oid: string } | undefined> {
  let at: { mode: string; oid: string } | undefined = { mode: treeMode, oid: tree }
  for (const part of path.split('/')) {
    if (at.mode !== treeMode) return undefined
    const object = await objects.read(at.oid, maxTreeBytes)
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
