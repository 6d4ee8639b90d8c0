// Compares trees object by object without opening equal subtrees. Beyond a budget, git compares them.
import { blobSha, type TreeSha } from '../change/ids.ts'
import type { PathChange } from '../change/path-change.ts'
import { isGitError } from './git-error.ts'
import type { Objects } from './object-reader.ts'
import { parseTreeObject } from './parse-output.ts'
import { byPath, decodePath } from './path-text.ts'

/** Per comparison. A bundle's release opens a dozen objects; a few thousand cost as much as git. */
const most = { objects: 1000, entries: 200_000, changes: 20_000, pathUnits: 4 * 1024 * 1024, depth: 100 }
/** A directory of some twenty thousand files. Several can be in memory at once. */
const largestObject = 1024 * 1024
const pairsAtOnce = 32

interface Entry {
  readonly mode: string
  readonly oid: string
}
export type Directory = ReadonlyMap<string, Entry>

interface Pair {
  /** With a trailing slash; '' for the whole tree. */
  readonly prefix: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const empty: Directory = new Map()
const folderMode = '040000'

/** Sorted by path, like git's `diff-tree -r --no-renames`. Undefined: ask git. */
export async function compareTreeObjects(
  objects: Objects,
  before: TreeSha,
  after: TreeSha,
): Promise<readonly PathChange[] | undefined> {
  const changes: PathChange[] = []
  const left = { ...most }
  let open: readonly Pair[] = [{ prefix: '', before, after }]
  while (open.length > 0) {
    if (--left.depth < 0) return undefined
    const next: Pair[] = []
    for (let at = 0; at < open.length; at += pairsAtOnce) {
      const pairs = open.slice(at, at + pairsAtOnce)
      left.objects -= pairs.length
      if (left.objects < 0) return undefined
      const read = await readPairs(objects, pairs)
      if (read === undefined) return undefined
      for (const { pair, sides } of read) {
        // Git writes no empty directories, so git must decide what they mean.
        if (pair.prefix !== '' && sides.some((side) => side !== empty && side.size === 0)) return undefined
        left.entries -= sides[0].size + sides[1].size
        if (left.entries < 0 || !comparePair(pair.prefix, sides, changes, next, left)) return undefined
      }
    }
    open = next
  }
  return changes.sort(byPath)
}

/** Adds a directory's differences and the subtrees to open. False: over budget. */
function comparePair(
  prefix: string,
  [before, after]: readonly [Directory, Directory],
  changes: PathChange[],
  next: Pair[],
  left: { changes: number; pathUnits: number; objects: number },
): boolean {
  const add = (name: string, was: Entry | undefined, is: Entry | undefined): boolean => {
    if (was?.oid === is?.oid && was?.mode === is?.mode) return true
    const path = prefix + name
    left.pathUnits -= path.length
    const [oldTree, newTree] = [treeOf(was), treeOf(is)]
    if (oldTree !== newTree) next.push({ prefix: `${path}/`, before: oldTree, after: newTree })
    const [oldFile, newFile] = [fileOf(was), fileOf(is)]
    if (oldFile || newFile) {
      changes.push({ path, ...(oldFile && { before: oldFile }), ...(newFile && { after: newFile }) })
      left.changes -= 1
    }
    return left.changes >= 0 && left.pathUnits >= 0 && next.length <= left.objects
  }
  for (const [name, was] of before) if (!add(name, was, after.get(name))) return false
  for (const [name, is] of after) if (!before.has(name) && !add(name, undefined, is)) return false
  return true
}

function treeOf(entry: Entry | undefined): string | undefined {
  return entry?.mode === folderMode ? entry.oid : undefined
}

function fileOf(entry: Entry | undefined): PathChange['before'] {
  return entry === undefined || entry.mode === folderMode
    ? undefined
    : { mode: entry.mode, oid: blobSha(entry.oid) }
}

async function readPairs(
  objects: Objects,
  pairs: readonly Pair[],
): Promise<readonly { pair: Pair; sides: readonly [Directory, Directory] }[] | undefined> {
  const directory = async (id: string | undefined) => (id === undefined ? empty : readDirectory(objects, id))
  const read = await Promise.all(
    pairs.map(async (pair) => ({
      pair,
      sides: await Promise.all([directory(pair.before), directory(pair.after)]),
    })),
  )
  const whole: { pair: Pair; sides: readonly [Directory, Directory] }[] = []
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
export async function readDirectory(objects: Objects, id: string): Promise<Directory | undefined> {
  try {
    const { type, bytes } = await objects.read(id, largestObject)
    return type === 'tree' ? directoryOf(bytes, id.length / 2) : undefined
  } catch (error) {
    if (isGitError(error)) return undefined
    throw error
  }
}

/** The modes that git writes today. Git reads others in its own way. */
const modes = new Set([folderMode, '100644', '100755', '120000', '160000'])

function directoryOf(bytes: Buffer, width: number): Directory | undefined {
  const directory = new Map<string, Entry>()
  let last = ''
  for (const { mode, name, oid } of parseTreeObject(bytes, width)) {
    const text = decodePath(name)
    // Git sorts by bytes, directories as if their names ended in a slash. Git compares unsorted trees its own way.
    const place = name.toString('latin1') + (mode === folderMode ? '/' : '')
    if (text === '' || text.includes('/') || place <= last || !modes.has(mode) || directory.has(text))
      return undefined
    last = place
    directory.set(text, { mode, oid })
  }
  return directory
}
