// Trees from loose objects: compares, merges, and edits them like Git.
import { memoizeByObjectId, NotLooseObjectError, readLooseObject, writeLooseObject } from './loose-objects.ts'

export interface LooseTreeObjectEntry {
  /** In Git's format: `40000` is a folder. */
  readonly mode: string
  readonly id: string
}

/** Entries by name. A name is a byte string (latin1), because Git's names have no encoding. */
export type LooseTreeObject = ReadonlyMap<string, LooseTreeObjectEntry>

const directoryEntryMode = '40000'
const isDirectoryEntry = (entry: LooseTreeObjectEntry | undefined): boolean =>
  entry?.mode === directoryEntryMode
const isSameTreeEntry = (
  one: LooseTreeObjectEntry | undefined,
  other: LooseTreeObjectEntry | undefined,
): boolean => one?.id === other?.id && one?.mode === other?.mode
const emptyLooseTreeObject: LooseTreeObject = new Map()

const readLooseTreeObject = memoizeByObjectId((path, id): LooseTreeObject => {
  const { type, bytes } = readLooseObject(path, id)
  if (type !== 'tree') throw new NotLooseObjectError(id)
  const entries = new Map<string, LooseTreeObjectEntry>()
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

function writeLooseTreeObject(path: string, tree: LooseTreeObject): string {
  // Git compares a folder's name as if it ended in a slash.
  const sortKey = ([name, { mode }]: [string, LooseTreeObjectEntry]) =>
    mode === directoryEntryMode ? `${name}/` : name
  const sorted = [...tree].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  const parts = sorted.flatMap(([name, { mode, id }]) => [
    Buffer.from(`${mode} ${name}\0`, 'latin1'),
    Buffer.from(id, 'hex'),
  ])
  return writeLooseObject(path, 'tree', Buffer.concat(parts))
}

/** The number of files in a tree. Each of its subtrees is counted once, even if it occurs several times. */
export const countFilesInLooseTreeObject = memoizeByObjectId((path, id): number => {
  let count = 0
  for (const entry of readLooseTreeObject(path, id).values())
    count += isDirectoryEntry(entry) ? countFilesInLooseTreeObject(path, entry.id) : 1
  return count
})

/** The entry at a path of a tree, or undefined. */
export function findLooseTreeObjectEntry(
  path: string,
  tree: string,
  file: string,
): LooseTreeObjectEntry | undefined {
  let entry: LooseTreeObjectEntry | undefined = { mode: directoryEntryMode, id: tree }
  for (const name of Buffer.from(file).toString('latin1').split('/'))
    entry =
      entry !== undefined && isDirectoryEntry(entry)
        ? readLooseTreeObject(path, entry.id).get(name)
        : undefined
  return entry
}

export interface TreeFileDifference {
  readonly path: string
  readonly before?: LooseTreeObjectEntry
  readonly after?: LooseTreeObjectEntry
}

/** The files in which two trees differ, without rename detection. Undefined: the file does not exist. */
export function diffLooseTreeObjects(path: string, before?: string, after?: string): TreeFileDifference[] {
  const found: TreeFileDifference[] = []
  const treeOf = (entry: LooseTreeObjectEntry | undefined) =>
    entry !== undefined && isDirectoryEntry(entry)
      ? readLooseTreeObject(path, entry.id)
      : emptyLooseTreeObject
  const compare = (one: LooseTreeObject, other: LooseTreeObject, under: string): void => {
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
  const whole = (id: string | undefined) =>
    id === undefined ? emptyLooseTreeObject : readLooseTreeObject(path, id)
  compare(whole(before), whole(after), '')
  return found
}

/**
 * The tree of a merge in which no file has to be merged by its lines and no file may have been renamed. Throws
 * NotLooseObjectError for any other merge, which is left to Git.
 */
export function mergeTreesThreeWay(path: string, ancestor: string, ours: string, theirs: string): string {
  const merge = (was: LooseTreeObject, one: LooseTreeObject, other: LooseTreeObject): string => {
    const merged = new Map<string, LooseTreeObjectEntry>()
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
            before ? readLooseTreeObject(path, before.id) : emptyLooseTreeObject,
            readLooseTreeObject(path, here.id),
            readLooseTreeObject(path, there.id),
          ),
        })
      else throw new NotLooseObjectError(name)
    }
    return writeLooseTreeObject(path, merged)
  }
  if (ours === theirs || ancestor === theirs) return ours
  if (ancestor === ours) return theirs
  return merge(
    readLooseTreeObject(path, ancestor),
    readLooseTreeObject(path, ours),
    readLooseTreeObject(path, theirs),
  )
}

function setTreeEntry(
  tree: Map<string, LooseTreeObjectEntry>,
  name: string,
  entry: LooseTreeObjectEntry | undefined,
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

interface EditableTreeObject {
  readonly entries: Map<string, LooseTreeObjectEntry | EditableTreeObject>
}

/** A tree with these edits, applied in order. Throws NotLooseObjectError for paths that Git must check. */
export function editLooseTreeObject(
  path: string,
  tree: string | undefined,
  edits: readonly TreeFileEdit[],
): string {
  const open = (id: string): EditableTreeObject => ({ entries: new Map(readLooseTreeObject(path, id)) })
  const root: EditableTreeObject = tree === undefined ? { entries: new Map() } : open(tree)
  for (const edit of edits) {
    const names = Buffer.from(edit.path).toString('latin1').split('/')
    if (
      names.some((name) => !safeTreeEntryNamePattern.test(name)) ||
      (edit.to?.mode === '120000' && edit.path.includes('.git'))
    )
      throw new NotLooseObjectError(edit.path)
    const last = names.pop() ?? ''
    let at: EditableTreeObject | undefined = root
    for (const name of names) {
      const next: LooseTreeObjectEntry | EditableTreeObject | undefined = at.entries.get(name)
      let inside: EditableTreeObject | undefined
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
  return write(root) ?? writeLooseTreeObject(path, emptyLooseTreeObject)

  /** Undefined for an empty folder, because Git does not store empty folders. */
  function write(one: EditableTreeObject): string | undefined {
    const entries = new Map<string, LooseTreeObjectEntry>()
    for (const [name, entry] of one.entries)
      if (!('entries' in entry)) entries.set(name, entry)
      else {
        const id = write(entry)
        if (id !== undefined) entries.set(name, { mode: directoryEntryMode, id })
      }
    return entries.size === 0 ? undefined : writeLooseTreeObject(path, entries)
  }
}
