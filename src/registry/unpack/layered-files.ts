// An in-memory tree of an image's files: applies layers and whiteouts, follows links inside the image only. Rejects
// what opm, which unpacks onto a disk, would read differently.
import { rejectedArchiveError } from './tar-header.ts'
import type { TarEntry } from './tar-reader.ts'

type LeafNode =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'dropped' | 'special' }
interface DirectoryNode {
  readonly kind: 'directory'
  readonly children: Map<string, LayeredNode>
}
/** `layer` is the last layer with the entry or something below it. */
type LayeredNode = (LeafNode | DirectoryNode) & { layer: number }

/** Longer chains of links are loops or abuse. */
const maxLinkDepth = 8

const opaqueWhiteout = '.wh..wh..opq'
const whiteoutPrefix = '.wh.'

export interface LayeredFiles {
  /** Begins the next layer, from the bottom up. */
  startLayer(): void
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

export function createLayeredFiles(): LayeredFiles {
  let layer = 0
  const root: DirectoryNode & { layer: number } = { kind: 'directory', children: new Map(), layer }
  // Paths with entries in this layer, which opm keeps in an opaque directory.
  let entered = new Set<string>()
  let madeOpaque = new Set<string>()

  /** The directory of a path, created if missing. Never writes through a link or file. */
  function ensureParent(path: string): DirectoryNode {
    let directory: DirectoryNode & { layer: number } = root
    const parts = path.split('/')
    for (const [index, part] of parts.slice(0, -1).entries()) {
      const quotedPath = () => JSON.stringify(parts.slice(0, index + 1).join('/'))
      if (part.startsWith(whiteoutPrefix))
        throw rejectedArchiveError(`${quotedPath()} is named like a whiteout and has content`)
      let child = directory.children.get(part)
      if (!child) directory.children.set(part, (child = { kind: 'directory', children: new Map(), layer }))
      if (child.kind === 'symlink')
        throw rejectedArchiveError(`something is written through the link ${quotedPath()}`)
      if (child.kind !== 'directory')
        throw rejectedArchiveError(`something lies below ${quotedPath()}, which is no directory`)
      child.layer = layer
      directory = child
    }
    return directory
  }

  function put(path: string, node: LeafNode | Omit<DirectoryNode, 'children'>): void {
    const { children } = ensureParent(path)
    const name = baseName(path)
    entered.add(path)
    const known = children.get(name)
    if (node.kind !== 'directory') children.set(name, { ...node, layer })
    else if (known?.kind === 'directory') known.layer = layer
    else children.set(name, { kind: 'directory', children: new Map(), layer })
  }

  function hardLink(path: string, target: string): void {
    // opm removes any entry with the link's name first, even its target.
    ensureParent(path).children.delete(baseName(path))
    let source: LayeredNode | undefined = root
    for (const part of target.split('/')) {
      if (source?.kind === 'symlink') break
      source = source?.kind === 'directory' ? source.children.get(part) : undefined
    }
    if (source?.kind === 'symlink')
      throw rejectedArchiveError(`the hard link ${JSON.stringify(path)} leads to another link`)
    if (source === undefined || source.kind === 'directory')
      throw rejectedArchiveError(`the hard link ${JSON.stringify(path)} leads nowhere`)
    put(path, source)
  }

  /** Hides lower layers' entries. Rejects one from the same layer, because the order would decide for opm. */
  function applyWhiteout(path: string, name: string): void {
    const hidden = name.slice(whiteoutPrefix.length)
    if (hidden === '' || hidden === '.' || hidden === '..')
      throw rejectedArchiveError(`${JSON.stringify(path)} hides nothing`)
    const { children } = ensureParent(path)
    if (children.get(hidden)?.layer === layer)
      throw rejectedArchiveError(`${JSON.stringify(path)} hides what its own layer brings`)
    children.delete(hidden)
  }

  function applyOpaqueWhiteout(path: string): void {
    const directory = path.slice(0, -opaqueWhiteout.length)
    if (madeOpaque.has(directory)) throw rejectedArchiveError(`${JSON.stringify(path)} is there twice`)
    madeOpaque.add(directory)
    removeLowerEntries(ensureParent(path), directory)
  }

  /** Like opm, keeps entries of this layer and their parent directories. */
  function removeLowerEntries({ children }: DirectoryNode, prefix: string): void {
    for (const [name, child] of children) {
      const path = prefix + name
      if (entered.has(path)) {
        if (child.kind === 'directory') removeLowerEntries(child, `${path}/`)
      } else if (child.layer === layer)
        throw rejectedArchiveError(`${JSON.stringify(prefix)} is made opaque after its content`)
      else children.delete(name)
    }
  }

  /** The node at a path, following every link inside the tree. */
  function resolvePath(
    path: string,
    depth = 0,
  ): { readonly path: string; readonly node: LayeredNode } | undefined {
    const parts = path === '' ? [] : path.split('/')
    let node: LayeredNode = root
    for (const [index, part] of parts.entries()) {
      const child: LayeredNode | undefined = node.kind === 'directory' ? node.children.get(part) : undefined
      if (!child) return undefined
      if (child.kind === 'symlink') {
        if (depth >= maxLinkDepth) return undefined
        const here = parts.slice(0, index)
        const found = resolvePath(
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
    startLayer() {
      layer += 1
      entered = new Set()
      madeOpaque = new Set()
    },
    add(entry) {
      const { path } = entry
      const name = baseName(path)
      if (entry.kind === 'global') {
        // opm removes entries with the name of such a header.
        if (path === '' || name.startsWith(whiteoutPrefix) || ensureParent(path).children.has(name))
          throw rejectedArchiveError(`a global header has the name ${JSON.stringify(path)}`)
        entered.add(path)
      } else if (name === opaqueWhiteout) applyOpaqueWhiteout(path)
      else if (name.startsWith(whiteoutPrefix)) applyWhiteout(path, name)
      else if (entry.kind === 'hardlink') hardLink(path, entry.target)
      else put(path, entry)
    },
    paths: () => pathsBelow(root, ''),
    filesBelow(directories) {
      const found = new Map<string, Uint8Array>()
      for (const directory of directories) {
        const start = resolvePath(directory)
        if (!start) {
          // A missing directory is fine; a dangling link is not, because it may resolve elsewhere.
          if (!isMissingPath(root, directory))
            throw rejectedArchiveError(`${JSON.stringify(directory)} leads nowhere`)
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
    const end = resolvePath(path)
    if (end?.node.kind === 'file') return end.node.bytes
    if (end?.node.kind === 'directory') {
      if (end.path === path) return undefined
      // opm skips it; other unpackers may not.
      throw rejectedArchiveError(`${JSON.stringify(shown)} is a link to a directory`)
    }
    if (end?.node.kind === 'special')
      throw rejectedArchiveError(`${JSON.stringify(shown)} is a device or a pipe`)
    throw rejectedArchiveError(`${JSON.stringify(shown)} leads nowhere`)
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function* pathsBelow(directory: DirectoryNode, prefix: string): Generator<string> {
  for (const [name, child] of directory.children) {
    yield prefix + name
    if (child.kind === 'directory') yield* pathsBelow(child, `${prefix}${name}/`)
  }
}

/** Whether a path is missing and has no link on the way. */
function isMissingPath(root: DirectoryNode, path: string): boolean {
  let node: LayeredNode | DirectoryNode | undefined = root
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
    throw rejectedArchiveError(`the link ${link} leads nowhere for opm: its target begins with "/"`)
  const parts = [...directory]
  let isDown = false
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') {
      parts.push(part)
      isDown = true
    } else if (isDown)
      throw rejectedArchiveError(
        `the link ${link} leads down and up again, through what may be a link itself`,
      )
    else if (parts.length === 0)
      throw rejectedArchiveError(`the link ${link} leads nowhere: out of the image`)
    else parts.pop()
  }
  return parts
}
