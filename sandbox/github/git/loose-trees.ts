// Trees of loose objects: compared, merged and edited as git does it.
import { keeping, NotLoose, readLoose, writeLoose } from './loose-objects.ts'

export interface TreeEntry {
  /** As git writes it: `40000` is a folder. */
  readonly mode: string
  readonly id: string
}

/** Entries by name. A name is a string of bytes (latin1): git's names need no encoding. */
export type Tree = ReadonlyMap<string, TreeEntry>

const folder = '40000'
const isFolder = (entry: TreeEntry | undefined): boolean => entry?.mode === folder
const isSame = (one: TreeEntry | undefined, other: TreeEntry | undefined): boolean =>
  one?.id === other?.id && one?.mode === other?.mode
const empty: Tree = new Map()

const looseTree = keeping((path, id): Tree => {
  const { type, bytes } = readLoose(path, id)
  if (type !== 'tree') throw new NotLoose(id)
  const entries = new Map<string, TreeEntry>()
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const end = bytes.indexOf(0, space)
    if (space < 0 || end < 0) throw new NotLoose(id)
    const name = bytes.toString('latin1', space + 1, end)
    if (entries.has(name)) throw new NotLoose(id)
    entries.set(name, {
      mode: bytes.toString('latin1', at, space),
      id: bytes.toString('hex', end + 1, end + 21),
    })
    at = end + 21
  }
  return entries
})

function writeTree(path: string, tree: Tree): string {
  // Git compares a folder's name as if it ended in a slash.
  const key = ([name, { mode }]: [string, TreeEntry]) => (mode === folder ? `${name}/` : name)
  const sorted = [...tree].sort((one, other) => (key(one) < key(other) ? -1 : 1))
  const parts = sorted.flatMap(([name, { mode, id }]) => [
    Buffer.from(`${mode} ${name}\0`, 'latin1'),
    Buffer.from(id, 'hex'),
  ])
  return writeLoose(path, 'tree', Buffer.concat(parts))
}

/** How many files lie in a tree: each of its trees is counted once, however often it stands in it. */
export const looseCount = keeping((path, id): number => {
  let count = 0
  for (const entry of looseTree(path, id).values()) count += isFolder(entry) ? looseCount(path, entry.id) : 1
  return count
})

/** The entry at a path of a tree, or undefined. */
export function looseEntry(path: string, tree: string, file: string): TreeEntry | undefined {
  let entry: TreeEntry | undefined = { mode: folder, id: tree }
  for (const name of Buffer.from(file).toString('latin1').split('/'))
    entry = entry !== undefined && isFolder(entry) ? looseTree(path, entry.id).get(name) : undefined
  return entry
}

export interface FileDifference {
  readonly path: string
  readonly before?: TreeEntry
  readonly after?: TreeEntry
}

/** The files in which two trees differ, no renames followed. Undefined: nothing is there. */
export function looseDifference(path: string, before?: string, after?: string): FileDifference[] {
  const found: FileDifference[] = []
  const treeOf = (entry: TreeEntry | undefined) =>
    entry !== undefined && isFolder(entry) ? looseTree(path, entry.id) : empty
  const compare = (one: Tree, other: Tree, under: string): void => {
    for (const name of new Set([...one.keys(), ...other.keys()])) {
      const [was, is] = [one.get(name), other.get(name)]
      if (isSame(was, is)) continue
      const file = `${under}${name}`
      const [fileBefore, fileAfter] = [isFolder(was) ? undefined : was, isFolder(is) ? undefined : is]
      if (fileBefore !== undefined || fileAfter !== undefined)
        found.push({
          path: Buffer.from(file, 'latin1').toString(),
          ...(fileBefore && { before: fileBefore }),
          ...(fileAfter && { after: fileAfter }),
        })
      if (isFolder(was) || isFolder(is)) compare(treeOf(was), treeOf(is), `${file}/`)
    }
  }
  const whole = (id: string | undefined) => (id === undefined ? empty : looseTree(path, id))
  compare(whole(before), whole(after), '')
  return found
}

/**
 * The tree of a merge in which no file has to be merged by its lines and none may have been renamed; NotLoose for every
 * other, which is git's to make.
 */
export function looseMerge(path: string, ancestor: string, ours: string, theirs: string): string {
  const merge = (was: Tree, one: Tree, other: Tree): string => {
    const merged = new Map<string, TreeEntry>()
    for (const name of new Set([...was.keys(), ...one.keys(), ...other.keys()])) {
      const [before, here, there] = [was.get(name), one.get(name), other.get(name)]
      const isGone = here === undefined || there === undefined
      // A file that is gone may be one that was moved.
      if (before !== undefined && isGone) throw new NotLoose(name)
      if (isSame(here, there) || isSame(there, before)) set(merged, name, here)
      else if (isSame(here, before)) set(merged, name, there)
      else if (here && there && isFolder(here) && isFolder(there) && (!before || isFolder(before)))
        merged.set(name, {
          mode: folder,
          id: merge(
            before ? looseTree(path, before.id) : empty,
            looseTree(path, here.id),
            looseTree(path, there.id),
          ),
        })
      else throw new NotLoose(name)
    }
    return writeTree(path, merged)
  }
  if (ours === theirs || ancestor === theirs) return ours
  if (ancestor === ours) return theirs
  return merge(looseTree(path, ancestor), looseTree(path, ours), looseTree(path, theirs))
}

function set(tree: Map<string, TreeEntry>, name: string, entry: TreeEntry | undefined): void {
  if (entry !== undefined) tree.set(name, entry)
}

export interface FileEdit {
  readonly path: string
  /** Undefined: the file, or the folder with all that it holds, goes. */
  readonly to: { readonly mode: string; readonly bytes: Uint8Array } | undefined
}

/** Every other name git has a look at first: what could mean `.git` on some machine, and what leads elsewhere. */
const plainName = /^(?!\.{1,2}$|\.git[ .]*$)[\w.+@=,() -]+$/i

interface Folder {
  readonly entries: Map<string, TreeEntry | Folder>
}

/** A tree with these edits, one after the other. NotLoose for paths that git looks at twice. */
export function editTree(path: string, tree: string | undefined, edits: readonly FileEdit[]): string {
  const open = (id: string): Folder => ({ entries: new Map(looseTree(path, id)) })
  const root: Folder = tree === undefined ? { entries: new Map() } : open(tree)
  for (const edit of edits) {
    const names = Buffer.from(edit.path).toString('latin1').split('/')
    if (
      names.some((name) => !plainName.test(name)) ||
      (edit.to?.mode === '120000' && edit.path.includes('.git'))
    )
      throw new NotLoose(edit.path)
    const last = names.pop() ?? ''
    let at: Folder | undefined = root
    for (const name of names) {
      const next: TreeEntry | Folder | undefined = at.entries.get(name)
      let inside: Folder | undefined
      if (next !== undefined && 'entries' in next) inside = next
      else if (next !== undefined && isFolder(next)) inside = open(next.id)
      else if (edit.to !== undefined) inside = { entries: new Map() }
      if (inside === undefined) {
        at = undefined
        break
      }
      at.entries.set(name, inside)
      at = inside
    }
    if (edit.to === undefined) at?.entries.delete(last)
    else at?.entries.set(last, { mode: edit.to.mode, id: writeLoose(path, 'blob', edit.to.bytes) })
  }
  return write(root) ?? writeTree(path, empty)

  /** Undefined for a folder in which nothing is left: git keeps none. */
  function write(one: Folder): string | undefined {
    const entries = new Map<string, TreeEntry>()
    for (const [name, entry] of one.entries)
      if (!('entries' in entry)) entries.set(name, entry)
      else {
        const id = write(entry)
        if (id !== undefined) entries.set(name, { mode: folder, id })
      }
    return entries.size === 0 ? undefined : writeTree(path, entries)
  }
}
