// An in-memory tree of an image's files: applies layers and whiteouts, follows links inside the image only. Rejects
// what opm, which unpacks onto a disk, would read differently.
import { refused } from './tar-header.ts'
import type { TarEntry } from './tar-reader.ts'

type Leaf =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'dropped' | 'special' }
interface Directory {
  readonly kind: 'directory'
  readonly children: Map<string, Placed>
}
/** `layer` is the last layer with the entry or something below it. */
type Placed = (Leaf | Directory) & { layer: number }

/** Longer chains of links are loops or abuse. */
const longestChain = 8

const opaque = '.wh..wh..opq'
const whiteout = '.wh.'

export interface LayeredFiles {
  /** Begins the next layer, from the bottom up. */
  beginLayer(): void
  /** Throws a RegistryError `unsupported` for what opm would do otherwise, or not at all. */
  add(entry: TarEntry): void
  /** Everything that is there, directories too. */
  paths(): Iterable<string>
  /**
   * Regular files below the directories (`` means all), with links resolved. Throws a RegistryError for a dangling
   * link.
   */
  filesBelow(directories: readonly string[]): ReadonlyMap<string, Uint8Array>
}

export function layeredFiles(): LayeredFiles {
  let layer = 0
  const root: Directory & { layer: number } = { kind: 'directory', children: new Map(), layer }
  // Paths with entries in this layer, which opm keeps in an opaque directory.
  let entered = new Set<string>()
  let madeOpaque = new Set<string>()

  /** The directory of a path, created if missing. Never writes through a link or file. */
  function parentOf(path: string): Directory {
    let directory: Directory & { layer: number } = root
    const parts = path.split('/')
    for (const [index, part] of parts.slice(0, -1).entries()) {
      const place = () => JSON.stringify(parts.slice(0, index + 1).join('/'))
      if (part.startsWith(whiteout)) throw refused(`${place()} is named like a whiteout and has content`)
      let child = directory.children.get(part)
      if (!child) directory.children.set(part, (child = { kind: 'directory', children: new Map(), layer }))
      if (child.kind === 'symlink') throw refused(`something is written through the link ${place()}`)
      if (child.kind !== 'directory') throw refused(`something lies below ${place()}, which is no directory`)
      child.layer = layer
      directory = child
    }
    return directory
  }

  function put(path: string, node: Leaf | Omit<Directory, 'children'>): void {
    const { children } = parentOf(path)
    const name = baseName(path)
    entered.add(path)
    const known = children.get(name)
    if (node.kind !== 'directory') children.set(name, { ...node, layer })
    else if (known?.kind === 'directory') known.layer = layer
    else children.set(name, { kind: 'directory', children: new Map(), layer })
  }

  function hardLink(path: string, target: string): void {
    // opm removes any entry with the link's name first, even its target.
    parentOf(path).children.delete(baseName(path))
    let source: Placed | undefined = root
    for (const part of target.split('/')) {
      if (source?.kind === 'symlink') break
      source = source?.kind === 'directory' ? source.children.get(part) : undefined
    }
    if (source?.kind === 'symlink')
      throw refused(`the hard link ${JSON.stringify(path)} leads to another link`)
    if (source === undefined || source.kind === 'directory')
      throw refused(`the hard link ${JSON.stringify(path)} leads nowhere`)
    put(path, source)
  }

  /** Hides lower layers' entries. Rejects one from the same layer, because the order would decide for opm. */
  function hide(path: string, name: string): void {
    const hidden = name.slice(whiteout.length)
    if (hidden === '' || hidden === '.' || hidden === '..')
      throw refused(`${JSON.stringify(path)} hides nothing`)
    const { children } = parentOf(path)
    if (children.get(hidden)?.layer === layer)
      throw refused(`${JSON.stringify(path)} hides what its own layer brings`)
    children.delete(hidden)
  }

  function makeOpaque(path: string): void {
    const directory = path.slice(0, -opaque.length)
    if (madeOpaque.has(directory)) throw refused(`${JSON.stringify(path)} is there twice`)
    madeOpaque.add(directory)
    keepEntered(parentOf(path), directory)
  }

  /** Like opm, keeps entries of this layer and their parent directories. */
  function keepEntered({ children }: Directory, prefix: string): void {
    for (const [name, child] of children) {
      const path = prefix + name
      if (entered.has(path)) {
        if (child.kind === 'directory') keepEntered(child, `${path}/`)
      } else if (child.layer === layer)
        throw refused(`${JSON.stringify(prefix)} is made opaque after its content`)
      else children.delete(name)
    }
  }

  /** The node at a path, following every link inside the tree. */
  function follow(path: string, depth = 0): { readonly path: string; readonly node: Placed } | undefined {
    const parts = path === '' ? [] : path.split('/')
    let node: Placed = root
    for (const [index, part] of parts.entries()) {
      const child: Placed | undefined = node.kind === 'directory' ? node.children.get(part) : undefined
      if (!child) return undefined
      if (child.kind === 'symlink') {
        if (depth >= longestChain) return undefined
        const here = parts.slice(0, index)
        const found = follow(
          [...resolveLink(here, part, child.target), ...parts.slice(index + 1)].join('/'),
          depth + 1,
        )
        // For the system, `file/` is not a file.
        const isBelow = /\/\.?$/.test(child.target) && index === parts.length - 1
        return isBelow && found?.node.kind !== 'directory' ? undefined : found
      }
      node = child
    }
    return { path, node }
  }

  return {
    beginLayer() {
      layer += 1
      entered = new Set()
      madeOpaque = new Set()
    },
    add(entry) {
      const { path } = entry
      const name = baseName(path)
      if (entry.kind === 'global') {
        // opm removes entries with the name of such a header.
        if (path === '' || name.startsWith(whiteout) || parentOf(path).children.has(name))
          throw refused(`a global header has the name ${JSON.stringify(path)}`)
        entered.add(path)
      } else if (name === opaque) makeOpaque(path)
      else if (name.startsWith(whiteout)) hide(path, name)
      else if (entry.kind === 'hardlink') hardLink(path, entry.target)
      else put(path, entry)
    },
    paths: () => pathsBelow(root, ''),
    filesBelow(directories) {
      const found = new Map<string, Uint8Array>()
      for (const directory of directories) {
        const start = follow(directory)
        if (!start) {
          // A missing directory is fine; a dangling link is not, because it may resolve elsewhere.
          if (!isMissing(root, directory)) throw refused(`${JSON.stringify(directory)} leads nowhere`)
          continue
        }
        if (start.node.kind !== 'directory') continue
        const prefix = start.path === '' ? '' : `${start.path}/`
        for (const path of pathsBelow(start.node, prefix)) {
          const shown = directory === '' ? path : `${directory}/${path.slice(prefix.length)}`
          const bytes = contentOf(path, shown)
          if (bytes) found.set(shown, bytes)
        }
      }
      return found
    },
  }

  function contentOf(path: string, shown: string): Uint8Array | undefined {
    const end = follow(path)
    if (end?.node.kind === 'file') return end.node.bytes
    if (end?.node.kind === 'directory') {
      if (end.path === path) return undefined
      // opm skips it; other unpackers may not.
      throw refused(`${JSON.stringify(shown)} is a link to a directory`)
    }
    if (end?.node.kind === 'special') throw refused(`${JSON.stringify(shown)} is a device or a pipe`)
    throw refused(`${JSON.stringify(shown)} leads nowhere`)
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function* pathsBelow(directory: Directory, prefix: string): Generator<string> {
  for (const [name, child] of directory.children) {
    yield prefix + name
    if (child.kind === 'directory') yield* pathsBelow(child, `${prefix}${name}/`)
  }
}

/** Whether a path is missing and has no link on the way. */
function isMissing(root: Directory, path: string): boolean {
  let node: Placed | Directory | undefined = root
  for (const part of path.split('/')) {
    if (node?.kind === 'symlink') return false
    node = node?.kind === 'directory' ? node.children.get(part) : undefined
  }
  return node === undefined
}

/** A link's target from the root of the tree. Throws if it is ambiguous. */
function resolveLink(directory: readonly string[], name: string, target: string): readonly string[] {
  const link = JSON.stringify([...directory, name].join('/'))
  // Relative to the image's root in a container, but to the machine's root for opm.
  if (target.startsWith('/'))
    throw refused(`the link ${link} leads nowhere for opm: its target begins with "/"`)
  const parts = [...directory]
  let isDown = false
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') {
      parts.push(part)
      isDown = true
    } else if (isDown)
      throw refused(`the link ${link} leads down and up again, through what may be a link itself`)
    else if (parts.length === 0) throw refused(`the link ${link} leads nowhere: out of the image`)
    else parts.pop()
  }
  return parts
}
