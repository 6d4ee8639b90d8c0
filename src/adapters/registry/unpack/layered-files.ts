// An in-memory tree of an image's files. Applies layers and whiteouts, and follows links only inside the image. Rejects
// anything that opm, which unpacks to disk, would read differently.
import { createRejectedImageError } from './tar-header.ts'
import type { TarEntry } from './tar-reader.ts'

type LayerLeafNode =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'dropped' | 'special' }
interface LayerDirectoryNode {
  readonly kind: 'directory'
  readonly children: Map<string, LayerTreeNode>
}
/** `layer` is the last layer with the entry or something below it. */
type LayerTreeNode = (LayerLeafNode | LayerDirectoryNode) & { layer: number }

/** Longer link chains are loops or abuse. */
const maxSymlinkDepth = 8

const opaqueWhiteoutFileName = '.wh..wh..opq'
const whiteoutFilePrefix = '.wh.'

export class LayeredFileSystem {
  #layer = 0
  readonly #root: LayerDirectoryNode & { layer: number } = {
    kind: 'directory',
    children: new Map(),
    layer: this.#layer,
  }
  // Paths with entries in this layer, which opm keeps in an opaque directory.
  #entered = new Set<string>()
  #madeOpaque = new Set<string>()

  /** Starts the next layer, from the bottom up. */
  readonly startLayer = (): void => {
    this.#layer += 1
    this.#entered = new Set()
    this.#madeOpaque = new Set()
  }

  /** Throws a RegistryError `unsupported` for entries that opm would handle differently, or not at all. */
  readonly add = (entry: TarEntry): void => {
    const { path } = entry
    const name = getBaseName(path)
    if (entry.kind === 'global') {
      // opm removes entries with the name of such a header.
      if (path === '' || name.startsWith(whiteoutFilePrefix) || this.#ensureParent(path).children.has(name))
        throw createRejectedImageError(`a global header has the invalid name ${JSON.stringify(path)}`)
      this.#entered.add(path)
    } else if (name === opaqueWhiteoutFileName) this.#applyOpaqueWhiteout(path)
    else if (name.startsWith(whiteoutFilePrefix)) this.#applyWhiteout(path, name)
    else if (entry.kind === 'hardlink') this.#hardLink(path, entry.target)
    else this.#put(path, entry)
  }

  /** Every path, including directories. */
  readonly paths = (): Iterable<string> => listDescendantPaths(this.#root, '')

  /** Regular files below the directories (``: all), with links resolved. Throws a RegistryError for a dangling link. */
  readonly filesBelow = (directories: readonly string[]): ReadonlyMap<string, Uint8Array> => {
    const found = new Map<string, Uint8Array>()
    for (const directory of directories) {
      const start = this.#resolvePath(directory)
      if (!start) {
        // A missing directory is allowed. A dangling link is not, because it may resolve elsewhere.
        if (!isMissingPathWithoutSymlink(this.#root, directory))
          throw createRejectedImageError(`${JSON.stringify(directory)} is a dangling link`)
        continue
      }
      if (start.node.kind !== 'directory') continue
      const prefix = start.path === '' ? '' : `${start.path}/`
      for (const path of listDescendantPaths(start.node, prefix)) {
        const shown = directory === '' ? path : `${directory}/${path.slice(prefix.length)}`
        const bytes = this.#contentOf(path, shown)
        if (bytes) found.set(shown, bytes)
      }
    }
    return found
  }

  /** The directory of a path, created if missing. Never writes through a link or file. */
  #ensureParent(path: string): LayerDirectoryNode {
    let directory: LayerDirectoryNode & { layer: number } = this.#root
    const parts = path.split('/')
    for (const [index, part] of parts.slice(0, -1).entries()) {
      const quotedPath = () => JSON.stringify(parts.slice(0, index + 1).join('/'))
      if (part.startsWith(whiteoutFilePrefix))
        throw createRejectedImageError(`${quotedPath()} has the name of a whiteout but has content`)
      let child = directory.children.get(part)
      if (!child)
        directory.children.set(part, (child = { kind: 'directory', children: new Map(), layer: this.#layer }))
      if (child.kind === 'symlink')
        throw createRejectedImageError(`an entry would be written through the link ${quotedPath()}`)
      if (child.kind !== 'directory')
        throw createRejectedImageError(`an entry is below ${quotedPath()}, which is not a directory`)
      child.layer = this.#layer
      directory = child
    }
    return directory
  }

  #put(path: string, node: LayerLeafNode | Omit<LayerDirectoryNode, 'children'>): void {
    const { children } = this.#ensureParent(path)
    const name = getBaseName(path)
    this.#entered.add(path)
    const known = children.get(name)
    if (node.kind !== 'directory') children.set(name, { ...node, layer: this.#layer })
    else if (known?.kind === 'directory') known.layer = this.#layer
    else children.set(name, { kind: 'directory', children: new Map(), layer: this.#layer })
  }

  #hardLink(path: string, target: string): void {
    // opm removes any entry with the link's name first, even its target.
    this.#ensureParent(path).children.delete(getBaseName(path))
    let source: LayerTreeNode | undefined = this.#root
    for (const part of target.split('/')) {
      if (source?.kind === 'symlink') break
      source = source?.kind === 'directory' ? source.children.get(part) : undefined
    }
    if (source?.kind === 'symlink')
      throw createRejectedImageError(`the hard link ${JSON.stringify(path)} points to another link`)
    if (source === undefined || source.kind === 'directory')
      throw createRejectedImageError(`the target of the hard link ${JSON.stringify(path)} does not exist`)
    this.#put(path, source)
  }

  /** Hides lower layers' entries. Rejects one from the same layer, because opm's result would depend on the order. */
  #applyWhiteout(path: string, name: string): void {
    const hidden = name.slice(whiteoutFilePrefix.length)
    if (hidden === '' || hidden === '.' || hidden === '..')
      throw createRejectedImageError(`the whiteout ${JSON.stringify(path)} hides nothing`)
    const { children } = this.#ensureParent(path)
    if (children.get(hidden)?.layer === this.#layer)
      throw createRejectedImageError(`the whiteout ${JSON.stringify(path)} hides an entry in the same layer`)
    children.delete(hidden)
  }

  #applyOpaqueWhiteout(path: string): void {
    const directory = path.slice(0, -opaqueWhiteoutFileName.length)
    if (this.#madeOpaque.has(directory))
      throw createRejectedImageError(`the whiteout ${JSON.stringify(path)} appears twice`)
    this.#madeOpaque.add(directory)
    this.#removeLowerEntries(this.#ensureParent(path), directory)
  }

  /** Like opm, keeps entries of this layer and their parent directories. */
  #removeLowerEntries({ children }: LayerDirectoryNode, prefix: string): void {
    for (const [name, child] of children) {
      const path = prefix + name
      if (this.#entered.has(path)) {
        if (child.kind === 'directory') this.#removeLowerEntries(child, `${path}/`)
      } else if (child.layer === this.#layer)
        throw createRejectedImageError(
          `the opaque whiteout for ${JSON.stringify(prefix)} follows the directory's content`,
        )
      else children.delete(name)
    }
  }

  /** The node at a path, following every link inside the tree. */
  #resolvePath(path: string, depth = 0): { readonly path: string; readonly node: LayerTreeNode } | undefined {
    const parts = path === '' ? [] : path.split('/')
    let node: LayerTreeNode = this.#root
    for (const [index, part] of parts.entries()) {
      const child: LayerTreeNode | undefined = node.kind === 'directory' ? node.children.get(part) : undefined
      if (!child) return undefined
      if (child.kind === 'symlink') {
        if (depth >= maxSymlinkDepth) return undefined
        const here = parts.slice(0, index)
        const found = this.#resolvePath(
          [...resolveSymlinkTarget(here, part, child.target), ...parts.slice(index + 1)].join('/'),
          depth + 1,
        )
        // The operating system does not treat `file/` as a file.
        const isBelow = /\/\.?$/.test(child.target) && index === parts.length - 1
        return isBelow && found?.node.kind !== 'directory' ? undefined : found
      }
      node = child
    }
    return { path, node }
  }

  #contentOf(path: string, shown: string): Uint8Array | undefined {
    const end = this.#resolvePath(path)
    if (end?.node.kind === 'file') return end.node.bytes
    if (end?.node.kind === 'directory') {
      if (end.path === path) return undefined
      // opm skips it. Other tools may not.
      throw createRejectedImageError(`${JSON.stringify(shown)} is a link to a directory`)
    }
    if (end?.node.kind === 'special')
      throw createRejectedImageError(`${JSON.stringify(shown)} is a device or a pipe`)
    throw createRejectedImageError(`${JSON.stringify(shown)} is a dangling link`)
  }
}

const getBaseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

function* listDescendantPaths(directory: LayerDirectoryNode, prefix: string): Generator<string> {
  for (const [name, child] of directory.children) {
    yield prefix + name
    if (child.kind === 'directory') yield* listDescendantPaths(child, `${prefix}${name}/`)
  }
}

/** Whether a path is missing without any link along it. */
function isMissingPathWithoutSymlink(root: LayerDirectoryNode, path: string): boolean {
  let node: LayerTreeNode | LayerDirectoryNode | undefined = root
  for (const part of path.split('/')) {
    if (node?.kind === 'symlink') return false
    node = node?.kind === 'directory' ? node.children.get(part) : undefined
  }
  return node === undefined
}

/** A link's target from the root of the tree. Throws if it is ambiguous. */
function resolveSymlinkTarget(directory: readonly string[], name: string, target: string): readonly string[] {
  const link = JSON.stringify([...directory, name].join('/'))
  // In a container, the target is relative to the image's root. For opm, it is relative to the machine's root.
  if (target.startsWith('/'))
    throw createRejectedImageError(`opm cannot resolve the link ${link} because its target starts with "/"`)
  const parts = [...directory]
  let isDown = false
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') {
      parts.push(part)
      isDown = true
    } else if (isDown)
      throw createRejectedImageError(
        `the target of the link ${link} contains ".." after a directory that might be a link`,
      )
    else if (parts.length === 0) throw createRejectedImageError(`the link ${link} points outside the image`)
    else parts.pop()
  }
  return parts
}
