// Compares trees object by object without opening equal subtrees. Beyond a budget, git compares them.
import { toBlobSha, type TreeSha } from '../../pull-request/ids.ts'
import type { PathChange } from '../../pull-request/change.ts'
import { isGitError } from './git-error.ts'
import type { GitObjectReader } from './object-reader.ts'
import { parseTreeObject } from './parse-output.ts'
import { compareByPath, decodePath } from './path-text.ts'

/** Per comparison. A bundle's release opens a dozen objects; a few thousand cost as much as git. */
const treeComparisonLimits = {
  objects: 1000,
  entries: 200_000,
  changes: 20_000,
  pathUnits: 4 * 1024 * 1024,
  depth: 100,
}
/** A directory of some twenty thousand files. Several can be in memory at once. */
const maxTreeObjectBytes = 1024 * 1024
const maxConcurrentTreeComparisons = 32

interface TreeObjectEntry {
  readonly mode: string
  readonly oid: string
}
export type GitTreeEntriesByName = ReadonlyMap<string, TreeObjectEntry>

interface TreePair {
  /** With a trailing slash; '' for the whole tree. */
  readonly prefix: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const emptyTreeEntries: GitTreeEntriesByName = new Map()
const gitDirectoryMode = '040000'

/** Sorted by path, like git's `diff-tree -r --no-renames`. Undefined: ask git. */
export async function compareTreeObjects(
  objects: GitObjectReader,
  before: TreeSha,
  after: TreeSha,
): Promise<readonly PathChange[] | undefined> {
  const changes: PathChange[] = []
  const remaining = { ...treeComparisonLimits }
  let open: readonly TreePair[] = [{ prefix: '', before, after }]
  while (open.length > 0) {
    if (--remaining.depth < 0) return undefined
    const next: TreePair[] = []
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
  next: TreePair[],
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

async function readTreePairEntries(
  objects: GitObjectReader,
  pairs: readonly TreePair[],
): Promise<
  readonly { pair: TreePair; sides: readonly [GitTreeEntriesByName, GitTreeEntriesByName] }[] | undefined
> {
  const directory = async (id: string | undefined) =>
    id === undefined ? emptyTreeEntries : readTreeObjectEntries(objects, id)
  const read = await Promise.all(
    pairs.map(async (pair) => ({
      pair,
      sides: await Promise.all([directory(pair.before), directory(pair.after)]),
    })),
  )
  const whole: { pair: TreePair; sides: readonly [GitTreeEntriesByName, GitTreeEntriesByName] }[] = []
  for (const {
    pair,
    sides: [before, after],
  } of read) {
    if (before === undefined || after === undefined) return undefined
    whole.push({ pair, sides: [before, after] })
  }
  return whole
}

/** Undefined: missing, too large, or not a tree as git writes it. Ask git. */
export async function readTreeObjectEntries(
  objects: GitObjectReader,
  id: string,
): Promise<GitTreeEntriesByName | undefined> {
  try {
    const { type, bytes } = await objects.read(id, maxTreeObjectBytes)
    return type === 'tree' ? parseTreeObjectEntries(bytes, id.length / 2) : undefined
  } catch (error) {
    if (isGitError(error)) return undefined
    throw error
  }
}

/** The modes that git writes today. Git reads others in its own way. */
const knownFileModes = new Set([gitDirectoryMode, '100644', '100755', '120000', '160000'])

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
      !knownFileModes.has(mode) ||
      directory.has(text)
    )
      return undefined
    last = sortKey
    directory.set(text, { mode, oid })
  }
  return directory
}
