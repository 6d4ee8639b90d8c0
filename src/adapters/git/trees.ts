// Reads trees: differences, listings, and single entries. Git receives paths neither as arguments nor as patterns: a
// path is followed tree by tree through its objects, byte for byte.
import { toBlobSha, toTreeSha, type TreeSha } from '../../pull-request/ids.ts'
import type { PathChange, TreePathEntry, TreeEntry } from '../../pull-request/change.ts'
import { GitError, isGitError } from './git-error.ts'
import type { GitRunner } from './run-git.ts'
import type { GitObjectReader } from './object-reader.ts'
import {
  parseRawDiff,
  parseLsTreeOutput,
  parseTreeObject,
  encodePath,
  compareByPath,
  decodePath,
} from './parse-output.ts'

const gitDirectoryMode = '040000'

/** Per comparison. A bundle's release opens a dozen objects; a few thousand cost as much as git. */
const treeComparisonLimits = {
  objects: 1000,
  entries: 200_000,
  changes: 20_000,
  pathUnits: 4 * 1024 * 1024,
  depth: 100,
}

/** A directory of some twenty thousand files. Several can be in memory at once. */
const maxComparedTreeBytes = 1024 * 1024

const maxConcurrentTreeComparisons = 32

interface TreeObjectEntry {
  readonly mode: string
  readonly oid: string
}

type GitTreeEntriesByName = ReadonlyMap<string, TreeObjectEntry>

interface GitTreePair {
  /** With a trailing slash; '' for the entire tree. */
  readonly prefix: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const emptyTreeEntries: GitTreeEntriesByName = new Map()

/** The modes that git writes today. Git reads others in its own way. */
const knownGitFileModes = new Set([gitDirectoryMode, '100644', '100755', '120000', '160000'])

/** A tree object of 64 MB has about a million entries, which is too many for any real directory. */
const maxTreeObjectBytes = 64 * 1024 * 1024

/** Differences between two trees: no rename detection, modes and submodules included, sorted by path. */
export async function diffTrees(
  git: GitRunner,
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
  // Each path has two records: the change and the name.
  const message = `two trees differ in more than ${formatPathCount(maxPaths)} paths`
  return parseRawDiff(await runGitWithinLimits(git, args, 2 * maxPaths, message))
}

/** Longer paths on average are deliberate, so a tree that exceeds this is too large anyway. */
const maxAverageTreeRecordBytes = 400

export function getGitTreeOutputLimits(records: number) {
  return { records, limit: 1024 * 1024 + records * maxAverageTreeRecordBytes }
}

/** Nine tree objects can describe a billion paths, so stop reading early. */
async function runGitWithinLimits(
  git: GitRunner,
  args: readonly string[],
  records: number,
  message: string,
): Promise<Buffer> {
  try {
    return (await git(args, getGitTreeOutputLimits(records))).stdout
  } catch (error) {
    throw isGitError(error, 'too-large') ? new GitError('too-large', message, { cause: error }) : error
  }
}

export const formatPathCount = (count: number): string => count.toLocaleString('en')

export const formatTooManyPathsMessage = (maxPaths: number): string =>
  `a tree contains more than ${formatPathCount(maxPaths)} paths`

/**
 * Counts the paths of a tree while git lists them. `diff-tree` prints nothing until it has walked both trees
 * completely, with every difference in memory, so a tree that is too large must be detected earlier.
 */
export async function rejectTreeWithTooManyPaths(
  git: GitRunner,
  tree: TreeSha,
  maxPaths: number,
): Promise<void> {
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', '--end-of-options', tree]
  await runGitWithinLimits(git, args, maxPaths, formatTooManyPathsMessage(maxPaths))
}

/** Every file below a directory, sorted by path. */
export async function listDirectory(
  git: GitRunner,
  objects: GitObjectReader,
  tree: TreeSha,
  directory: string,
  maxPaths: number,
): Promise<readonly TreePathEntry[]> {
  const start = await findGitObjectAtPath(objects, tree, directory)
  if (start?.mode !== gitDirectoryMode) return []
  return parseLsTreeOutput(await readTreeListing(git, toTreeSha(start.oid), maxPaths), `${directory}/`)
}

export async function readTreeListing(git: GitRunner, tree: TreeSha, maxPaths: number): Promise<Buffer> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', '--end-of-options', tree]
  return runGitWithinLimits(git, args, maxPaths, formatTooManyPathsMessage(maxPaths))
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

export async function findGitObjectAtPath(
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

/**
 * Compares trees object by object without opening equal subtrees. Beyond a budget, git compares them. Sorted by path,
 * like git's `diff-tree -r --no-renames`. Undefined: ask git.
 */
export async function compareTreeObjects(
  objects: GitObjectReader,
  before: TreeSha,
  after: TreeSha,
): Promise<readonly PathChange[] | undefined> {
  const changes: PathChange[] = []
  const remaining = { ...treeComparisonLimits }
  let open: readonly GitTreePair[] = [{ prefix: '', before, after }]
  while (open.length > 0) {
    if (--remaining.depth < 0) return undefined
    const next: GitTreePair[] = []
    for (let at = 0; at < open.length; at += maxConcurrentTreeComparisons) {
      const pairs = open.slice(at, at + maxConcurrentTreeComparisons)
      remaining.objects -= pairs.length
      if (remaining.objects < 0) return undefined
      const read = await readTreePairEntries(objects, pairs)
      if (read === undefined) return undefined
      for (const { pair, sides } of read) {
        // Git writes no empty directories, so git must decide what they mean.
        if (pair.prefix !== '' && sides.some((side) => side !== emptyTreeEntries && side.size === 0))
          return undefined
        remaining.entries -= sides[0].size + sides[1].size
        if (remaining.entries < 0 || !compareTreePair(pair.prefix, sides, changes, next, remaining))
          return undefined
      }
    }
    open = next
  }
  return changes.sort(compareByPath)
}

/** Adds a directory's differences and the subtrees to open. False: over budget. */
function compareTreePair(
  prefix: string,
  [before, after]: readonly [GitTreeEntriesByName, GitTreeEntriesByName],
  changes: PathChange[],
  next: GitTreePair[],
  remaining: { changes: number; pathUnits: number; objects: number },
): boolean {
  const add = (name: string, was: TreeObjectEntry | undefined, is: TreeObjectEntry | undefined): boolean => {
    if (was?.oid === is?.oid && was?.mode === is?.mode) return true
    const path = prefix + name
    remaining.pathUnits -= path.length
    const [oldTree, newTree] = [getSubtreeId(was), getSubtreeId(is)]
    if (oldTree !== newTree) next.push({ prefix: `${path}/`, before: oldTree, after: newTree })
    const [oldFile, newFile] = [toFileTreeEntry(was), toFileTreeEntry(is)]
    if (oldFile || newFile) {
      changes.push({ path, ...(oldFile && { before: oldFile }), ...(newFile && { after: newFile }) })
      remaining.changes -= 1
    }
    return remaining.changes >= 0 && remaining.pathUnits >= 0 && next.length <= remaining.objects
  }
  for (const [name, was] of before) if (!add(name, was, after.get(name))) return false
  for (const [name, is] of after) if (!before.has(name) && !add(name, undefined, is)) return false
  return true
}

function getSubtreeId(entry: TreeObjectEntry | undefined): string | undefined {
  return entry?.mode === gitDirectoryMode ? entry.oid : undefined
}

function toFileTreeEntry(entry: TreeObjectEntry | undefined): PathChange['before'] {
  return entry === undefined || entry.mode === gitDirectoryMode
    ? undefined
    : { mode: entry.mode, oid: toBlobSha(entry.oid) }
}

async function readTreePairEntries(objects: GitObjectReader, pairs: readonly GitTreePair[]) {
  const directory = async (id: string | undefined) =>
    id === undefined ? emptyTreeEntries : readTreeObjectEntries(objects, id)
  const read = await Promise.all(
    pairs.map(async (pair) => {
      const [before, after] = await Promise.all([directory(pair.before), directory(pair.after)])
      return before && after && { pair, sides: [before, after] as const }
    }),
  )
  const complete = read.filter((one) => one !== undefined)
  return complete.length === pairs.length ? complete : undefined
}

/** Undefined: missing, too large, or not a tree as git writes it. Ask git. */
async function readTreeObjectEntries(
  objects: GitObjectReader,
  id: string,
): Promise<GitTreeEntriesByName | undefined> {
  try {
    const { type, bytes } = await objects.read(id, maxComparedTreeBytes)
    return type === 'tree' ? parseTreeObjectEntries(bytes, id.length / 2) : undefined
  } catch (error) {
    if (isGitError(error)) return undefined
    throw error
  }
}

function parseTreeObjectEntries(bytes: Buffer, width: number): GitTreeEntriesByName | undefined {
  const directory = new Map<string, TreeObjectEntry>()
  let last = ''
  for (const { mode, name, oid } of parseTreeObject(bytes, width)) {
    const text = decodePath(name)
    // Git sorts by bytes, directories as if their names ended in a slash. Git compares unsorted trees its own way.
    const sortKey = name.toString('latin1') + (mode === gitDirectoryMode ? '/' : '')
    if (
      text === '' ||
      text.includes('/') ||
      sortKey <= last ||
      !knownGitFileModes.has(mode) ||
      directory.has(text)
    )
      return undefined
    last = sortKey
    directory.set(text, { mode, oid })
  }
  return directory
}
