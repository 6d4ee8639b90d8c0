// Where the catalogs of a repository lie. recognise-layout.ts finds it, classify-path.ts uses it.

import { oncePer } from '../../findings/once.ts'

export interface Layout {
  /** No catalog lies inside another. In the order people expect: by place, then by version as numbers. */
  readonly catalogs: readonly CatalogRoot[]
  /** Files that look like catalog templates by their place and name, sorted. Display and hints, never authority. */
  readonly templates?: readonly string[]
}

export interface CatalogRoot {
  /** Directory of the catalog from the root of the repository, without a slash at the end; '' is the repository itself. */
  readonly root: string
  /** Platform version it serves, such as `4.20`; absent where the layout does not say. */
  readonly version?: string
  /** What the configuration calls it, where that is not `root` alone: it may name a link that leads there. */
  readonly names?: readonly string[]
}

/** Whether `path` lies below `root`. A root of '' holds everything. */
export function isBelow(path: string, root: string): boolean {
  return root === '' || (path.length > root.length && path.startsWith(root) && path[root.length] === '/')
}

/** Of two with one root the first stays. */
const byRoot = oncePer(
  ({ catalogs }: Layout): ReadonlyMap<string, CatalogRoot> =>
    new Map(catalogs.toReversed().map((catalog) => [catalog.root, catalog])),
)

/** The catalog that `path` lies in, whatever its role there is: a dot file in a catalog is read by opm too. */
export function catalogOf(path: string, layout: Layout): CatalogRoot | undefined {
  const roots = byRoot(layout)
  for (const folder of foldersAbove(path)) {
    const found = roots.get(folder)
    if (found) return found
  }
  return undefined
}

/** Every directory that one of these paths lies below, '' (the repository) included. Empty for no path. */
export function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of paths)
    for (const folder of foldersAbove(path)) {
      // Those above it came with it.
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}

/** The directories that hold `path`, nearest first, '' (the repository) last. */
export function* foldersAbove(path: string): Generator<string> {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    yield path.slice(0, slash)
  yield ''
}
