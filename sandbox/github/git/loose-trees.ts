// Trees from loose objects: compares, merges, and edits them like Git.
import { memoizeByObjectId, NotLooseObjectError, readLooseObject, writeLooseObject } from './loose-objects.ts'

export interface LooseTreeEntry {
  /** In Git's format: `40000` is a folder. */
  readonly mode: string
  readonly id: string
}

/** Entries by name. A name is a byte string (latin1), because Git's names have no encoding. */
export type LooseTree = ReadonlyMap<string, LooseTreeEntry>

const directoryEntryMode = '40000'
const isDirectoryEntry = (entry: LooseTreeEntry | undefined): boolean => entry?.mode === directoryEntryMode
const isSameTreeEntry = (one: LooseTreeEntry | undefined, other: LooseTreeEntry | undefined): boolean =>
  one?.id === other?.id && one?.mode === other?.mode
const emptyLooseTree: LooseTree = new Map()

const readLooseTree = memoizeByObjectId((path, id): LooseTree => {
  const { type, bytes } = readLooseObject(path, id)
  if (type !== 'tree') throw new NotLooseObjectError(id)
  const entries = new Map<string, LooseTreeEntry>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const end = bytes.indexOf(0, space)
    if (space < 0 || end < 0) throw new NotLooseObjectError(id)
    const name = bytes.toString('latin1', space + 1, end)
    if (entries.has(name)) throw new NotLooseObjectError(id)
    entries.set(name, {
      mode: bytes.toString('latin1', at, space),
      id: bytes.toString('hex', end + 1, end + 21),
    })
    at = end + 21
  }
  return entries
})

function writeLooseTree(path: string, tree: LooseTree): string {
  // Git compares a folder's name as if it ended in a slash.
  const sortKey = ([name, { mode }]: [string, LooseTreeEntry]) =>
    mode === directoryEntryMode ? `${name}/` : name
  const sorted = [...tree].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  const parts = sorted.flatMap(([name, { mode, id }]) => [
    Buffer.from(`${mode} ${name}\0`, 'latin1'),
    Buffer.from(id, 'hex'),
  ])
  return writeLooseObject(path, 'tree', Buffer.concat(parts))
}

/** The number of files in a tree. Each of its subtrees is counted once, even if it occurs several times. */
export const countFilesInLooseTree = memoizeByObjectId((path, id): number => {
  let count = 0
  for (const entry of readLooseTree(path, id).values())
    count += isDirectoryEntry(entry) ? countFilesInLooseTree(path, entry.id) : 1
  return count
})

/** The entry at a path of a tree, or undefined. */
export function findLooseTreeEntry(path: string, tree: string, file: string): LooseTreeEntry | undefined {
  let entry: LooseTreeEntry | undefined = { mode: directoryEntryMode, id: tree }
  for (const name of Buffer.from(file).toString('latin1').split('/'))
    entry =
      entry !== undefined && isDirectoryEntry(entry) ? readLooseTree(path, entry.id).get(name) : undefined
  return entry
}

export interface TreeFileDifference {
  readonly path: string
  readonly before?: LooseTreeEntry
  readonly after?: LooseTreeEntry
}

/** The files in which two trees differ, without rename detection. Undefined: the file does not exist. */
export function diffLooseTrees(path: string, before?: string, after?: string): TreeFileDifference[] {
  const found: TreeFileDifference[] = []
  const treeOf = (entry: LooseTreeEntry | undefined) =>
    entry !== undefined && isDirectoryEntry(entry) ? readLooseTree(path, entry.id) : emptyLooseTree
  const compare = (one: LooseTree, other: LooseTree, under: string): void => {
    for (const name of new Set([...one.keys(), ...other.keys()])) {
      const [was, is] = [one.get(name), other.get(name)]
      if (isSameTreeEntry(was, is)) continue
      const file = `${under}${name}`
      const [fileBefore, fileAfter] = [
        isDirectoryEntry(was) ? undefined : was,
        isDirectoryEntry(is) ? undefined : is,
      ]
      if (fileBefore !== undefined || fileAfter !== undefined)
        found.push({
          path: Buffer.from(file, 'latin1').toString(),
          ...(fileBefore && { before: fileBefore }),
          ...(fileAfter && { after: fileAfter }),
        })
      if (isDirectoryEntry(was) || isDirectoryEntry(is)) compare(treeOf(was), treeOf(is), `${file}/`)
    }
  }
  const whole = (id: string | undefined) => (id === undefined ? emptyLooseTree : readLooseTree(path, id))
  compare(whole(before), whole(after), '')
  return found
}

/**
 * The tree of a merge in which no file has to be merged by its lines and none may have been renamed; NotLooseError for every
 * other, which is git's to make.
 */
export function mergeLooseTrees(path: string, ancestor: string, ours: string, theirs: string): string {
  const merge = (was: LooseTree, one: LooseTree, other: LooseTree): string => {
    const merged = new Map<string, LooseTreeEntry>()
    for (const name of new Set([...was.keys(), ...one.keys(), ...other.keys()])) {
      const [before, here, there] = [was.get(name), one.get(name), other.get(name)]
      const isGone = here === undefined || there === undefined
      // A deleted file may have been renamed.
      if (before !== undefined && isGone) throw new NotLooseObjectError(name)
      if (isSameTreeEntry(here, there) || isSameTreeEntry(there, before)) setTreeEntry(merged, name, here)
      else if (isSameTreeEntry(here, before)) setTreeEntry(merged, name, there)
      else if (
        here &&
        there &&
        isDirectoryEntry(here) &&
        isDirectoryEntry(there) &&
        (!before || isDirectoryEntry(before))
      )
        merged.set(name, {
          mode: directoryEntryMode,
          id: merge(
            before ? readLooseTree(path, before.id) : emptyLooseTree,
            readLooseTree(path, here.id),
            readLooseTree(path, there.id),
          ),
        })
      else throw new NotLooseObjectError(name)
    }
    return writeLooseTree(path, merged)
  }
  if (ours === theirs || ancestor === theirs) return ours
  if (ancestor === ours) return theirs
  return merge(readLooseTree(path, ancestor), readLooseTree(path, ours), readLooseTree(path, theirs))
}

function setTreeEntry(
  tree: Map<string, LooseTreeEntry>,
  name: string,
  entry: LooseTreeEntry | undefined,
): void {
  if (entry !== undefined) tree.set(name, entry)
}

export interface TreeFileEdit {
  readonly path: string
  /** Undefined: the file, or the folder with all its contents, is deleted. */
  readonly to: { readonly mode: string; readonly bytes: Uint8Array } | undefined
}

/**
 * Names that need no further check by Git. Git checks names that could mean `.git` on some system or that point
 * elsewhere.
 */
const safeTreeEntryNamePattern = /^(?!\.{1,2}$|\.git[ .]*$)[\w.+@=,() -]+$/i

interface EditableLooseTree {
  readonly entries: Map<string, LooseTreeEntry | EditableLooseTree>
}

/** A tree with these edits, applied in order. Throws NotLooseObjectError for paths that Git must check. */
export function editLooseTree(
  path: string,
  tree: string | undefined,
  edits: readonly TreeFileEdit[],
): string {
  const open = (id: string): EditableLooseTree => ({ entries: new Map(readLooseTree(path, id)) })
  const root: EditableLooseTree = tree === undefined ? { entries: new Map() } : open(tree)
  for (const edit of edits) {
    const names = Buffer.from(edit.path).toString('latin1').split('/')
    if (
      names.some((name) => !safeTreeEntryNamePattern.test(name)) ||
      (edit.to?.mode === '120000' && edit.path.includes('.git'))
    )
      throw new NotLooseObjectError(edit.path)
    const last = names.pop() ?? ''
    let at: EditableLooseTree | undefined = root
    for (const name of names) {
      const next: LooseTreeEntry | EditableLooseTree | undefined = at.entries.get(name)
      let inside: EditableLooseTree | undefined
      if (next !== undefined && 'entries' in next) inside = next
      else if (next !== undefined && isDirectoryEntry(next)) inside = open(next.id)
      else if (edit.to !== undefined) inside = { entries: new Map() }
      if (inside === undefined) {
        at = undefined
        break
      }
      at.entries.set(name, inside)
      at = inside
    }
    if (edit.to === undefined) at?.entries.delete(last)
    else at?.entries.set(last, { mode: edit.to.mode, id: writeLooseObject(path, 'blob', edit.to.bytes) })
  }
  return write(root) ?? writeLooseTree(path, emptyLooseTree)

  /** Undefined for an empty folder, because Git does not store empty folders. */
  function write(one: EditableLooseTree): string | undefined {
    const entries = new Map<string, LooseTreeEntry>()
    for (const [name, entry] of one.entries)
      if (!('entries' in entry)) entries.set(name, entry)
      else {
        const id = write(entry)
        if (id !== undefined) entries.set(name, { mode: directoryEntryMode, id })
      }
    return entries.size === 0 ? undefined : writeLooseTree(path, entries)
  }
}
