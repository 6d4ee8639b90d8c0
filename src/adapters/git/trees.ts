// Reads trees: differences, listings, single entries. Paths go to git neither as arguments nor as patterns: a path is
// followed tree by tree through its objects, byte for byte.
import { toBlobSha, toTreeSha, type TreeSha } from '../../pull-request/ids.ts'
import type { PathChange, TreePathEntry, TreeEntry } from '../../pull-request/change.ts'
import { GitError, isGitError } from './git-error.ts'
import type { LocalGit } from './local-git.ts'
import type { GitObjectReader } from './object-reader.ts'
import { parseRawDiff, parseLsTreeOutput, parseTreeObject } from './parse-output.ts'
import { encodePath } from './path-text.ts'

/** A tree object of 64 MB has about a million entries, which is too many for any real directory. */
const maxTreeObjectBytes = 64 * 1024 * 1024
const gitDirectoryMode = '040000'

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
  const { stdout } = await runWithTooManyPathsError(
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
async function runWithTooManyPathsError<T>(work: () => Promise<T>, tooMany: string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isGitError(error, 'too-large') ? new GitError('too-large', tooMany, { cause: error }) : error
  }
}

export const formatPathCount = (count: number): string => count.toLocaleString('en')

export const formatTooManyPathsMessage = (maxPaths: number): string =>
  `a tree contains more than ${formatPathCount(maxPaths)} paths`

/**
 * Counts the paths of a tree while git lists them. `diff-tree` prints nothing before it has walked through all of both
 * trees and holds every difference in memory: what is too large has to be known before.
 */
export async function rejectTreeWithTooManyPaths(
  git: LocalGit,
  tree: TreeSha,
  maxPaths: number,
): Promise<void> {
  await runWithTooManyPathsError(
    () =>
      git(
        ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', tree],
        getTreeRecordOutputLimits(maxPaths),
      ),
    formatTooManyPathsMessage(maxPaths),
  )
}

/** Every file below a directory, sorted by path. */
export async function listDirectory(
  git: LocalGit,
  objects: GitObjectReader,
  tree: TreeSha,
  directory: string,
  maxPaths: number,
): Promise<readonly TreePathEntry[]> {
  const start = await findGitObjectAtPath(objects, tree, directory)
  if (start?.mode !== gitDirectoryMode) return []
  return parseLsTreeOutput(await readTreeListing(git, toTreeSha(start.oid), maxPaths), `${directory}/`)
}

export async function readTreeListing(git: LocalGit, tree: TreeSha, maxPaths: number): Promise<Buffer> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', tree]
  const { stdout } = await runWithTooManyPathsError(
    () => git(args, getTreeRecordOutputLimits(maxPaths)),
    formatTooManyPathsMessage(maxPaths),
  )
  return stdout
}

/** The file, symlink or submodule at a path; undefined for nothing and for a directory. */
export async function findTreeFileEntry(
  objects: GitObjectReader,
  tree: TreeSha,
  path: string,
): Promise<TreeEntry | undefined> {
  const found = await findGitObjectAtPath(objects, tree, path)
  return found === undefined || found.mode === gitDirectoryMode
    ? undefined
    : { mode: found.mode, oid: toBlobSha(found.oid) }
}

async function findGitObjectAtPath(
  objects: GitObjectReader,
  tree: TreeSha,
  path: string,
): Promise<{ mode: string; oid: string } | undefined> {
  let at: { mode: string; oid: string } | undefined = { mode: gitDirectoryMode, oid: tree }
  for (const part of path.split('/')) {
    if (at.mode !== gitDirectoryMode) return undefined
    const object = await objects.read(at.oid, maxTreeObjectBytes)
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
