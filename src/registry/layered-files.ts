// The files of an image as its layers leave them: later layers over earlier ones, whiteouts applied, links followed
// inside the image only. A tree in memory; nothing here knows a disk.
import { RegistryError } from './registry-error.ts'
import type { TarEntry } from './tar-reader.ts'

type Node =
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'dropped' | 'directory' }

/** Longer chains of links are loops, or made to be annoying. */
const longestChain = 8

const opaque = '.wh..wh..opq'
const whiteout = '.wh.'

export interface LayeredFiles {
  /** Begins the next layer, from the bottom up. */
  beginLayer(): void
  add(entry: TarEntry): void
  /** Everything that is there, directories too. */
  paths(): Iterable<string>
  /** Regular files below the directories (`` is all), links resolved. Throws a RegistryError for a link that leads nowhere. */
  filesBelow(directories: readonly string[]): ReadonlyMap<string, Uint8Array>
}

export function layeredFiles(): LayeredFiles {
  const tree = new Map<string, Node>()
  // Paths that this layer brought: a whiteout hides what lies below the layer, never what is in it.
  let inLayer = new Set<string>()

  function remove(path: string, keepOwn: boolean): void {
    for (const known of [...tree.keys()])
      if ((known === path || known.startsWith(`${path}/`)) && !(keepOwn && inLayer.has(known)))
        tree.delete(known)
  }

  function put(path: string, node: Node): void {
    const parts = path.split('/')
    // Whatever stood where a directory is needed now makes room for it: a link there is never written through.
    for (let length = 1; length < parts.length; length += 1) {
      const parent = parts.slice(0, length).join('/')
      const known = tree.get(parent)
      if (known?.kind !== 'directory') tree.set(parent, { kind: 'directory' })
      inLayer.add(parent)
    }
    const known = tree.get(path)
    if (known?.kind === 'directory' && node.kind !== 'directory') remove(path, false)
    tree.set(path, node)
    inLayer.add(path)
  }

  /** The node behind a path, every link on the way followed inside the tree. */
  function follow(path: string, depth = 0): { readonly path: string; readonly node: Node } | undefined {
    const parts = path.split('/')
    for (let length = 1; length <= parts.length; length += 1) {
      const here = parts.slice(0, length).join('/')
      const node = tree.get(here)
      if (node?.kind === 'symlink') {
        if (depth >= longestChain) return undefined
        const target = resolveLink(here, node.target)
        const rest = parts.slice(length)
        return target === undefined ? undefined : follow([...target, ...rest].join('/'), depth + 1)
      }
      if (length === parts.length && node) return { path: here, node }
    }
    return undefined
  }

  return {
    beginLayer() {
      inLayer = new Set()
    },
    add(entry) {
      const slash = entry.path.lastIndexOf('/')
      const [folder, name] = [entry.path.slice(0, Math.max(slash, 0)), entry.path.slice(slash + 1)]
      if (name === opaque) {
        for (const known of [...tree.keys()])
          if ((folder === '' || known.startsWith(`${folder}/`)) && !inLayer.has(known)) tree.delete(known)
      } else if (name.startsWith(whiteout)) {
        const hidden = name.slice(whiteout.length)
        if (hidden === '' || hidden === '.' || hidden === '..') return
        remove(folder === '' ? hidden : `${folder}/${hidden}`, true)
      } else if (entry.kind === 'file') put(entry.path, { kind: 'file', bytes: entry.bytes })
      else if (entry.kind === 'symlink') put(entry.path, { kind: 'symlink', target: entry.target })
      else if (entry.kind === 'hardlink') {
        const source = follow(entry.target)?.node
        if (source?.kind === 'file') put(entry.path, source)
        else put(entry.path, { kind: 'symlink', target: `/${entry.target}` })
      } else put(entry.path, { kind: entry.kind })
    },
    paths: () => tree.keys(),
    filesBelow(directories) {
      const found = new Map<string, Uint8Array>()
      for (const directory of directories) {
        const root = directory === '' ? undefined : follow(directory)
        if (directory !== '' && root?.node.kind !== 'directory') continue
        const prefix = root === undefined ? '' : `${root.path}/`
        for (const path of [...tree.keys()]) {
          if (!path.startsWith(prefix)) continue
          const shown = root === undefined ? path : directory + path.slice(root.path.length)
          const node = tree.get(path)
          if (node?.kind === 'directory') continue
          const target = follow(path)?.node
          if (target?.kind === 'directory') continue
          if (target?.kind !== 'file')
            throw new RegistryError(
              'unsupported',
              `the archive is refused: ${JSON.stringify(shown)} leads nowhere`,
            )
          found.set(shown, target.bytes)
        }
      }
      return found
    },
  }
}

/** Where a link leads, from the root of the tree; undefined when it leads out of it. */
function resolveLink(path: string, target: string): readonly string[] | undefined {
  const parts = target.startsWith('/') ? [] : path.split('/').slice(0, -1)
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (parts.length === 0) return undefined
      parts.pop()
    } else parts.push(part)
  }
  return parts
}
