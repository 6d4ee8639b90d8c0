import { memoizePerObject } from '@catalog-bot/findings/memoize'

export interface RepositoryLayout {
  /** Catalogs are never nested. Ordered by path, then numerically by version. */
  readonly catalogs: readonly CatalogRoot[]
  /**
   * Files whose path and name look like a catalog template, sorted. Used only for display and hints, never for
   * authority.
   */
  readonly templates?: readonly string[]
}

export interface CatalogRoot {
  /** The path without a trailing slash. '' is the repository root. */
  readonly root: string
  /** The platform version of the catalog, such as `4.20`. Absent if the layout does not contain it. */
  readonly version?: string
  /** Names in the configuration that differ from `root`, such as links to it. */
  readonly names?: readonly string[]
}

/** A root of '' contains everything. */
export function isPathUnder(path: string, root: string): boolean {
  return root === '' || (path.length > root.length && path.startsWith(root) && path[root.length] === '/')
}

/** The first of two equal roots wins. */
const indexCatalogsByRoot = memoizePerObject(
  ({ catalogs }: RepositoryLayout): ReadonlyMap<string, CatalogRoot> =>
    new Map(catalogs.toReversed().map((catalog) => [catalog.root, catalog])),
)

/** Includes files such as dot files, which opm reads too. */
export function findContainingCatalog(path: string, layout: RepositoryLayout): CatalogRoot | undefined {
  const roots = indexCatalogsByRoot(layout)
  for (const folder of generateAncestorDirectories(path)) {
    const found = roots.get(folder)
    if (found) return found
  }
  return undefined
}

/** Every directory above one of the paths, including ''. */
export function collectAncestorDirectories(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of paths)
    for (const folder of generateAncestorDirectories(path)) {
      // The folders above were added with it.
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}

/** Nearest first, ending with ''. */
export function* generateAncestorDirectories(path: string): Generator<string> {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    yield path.slice(0, slash)
  yield ''
}
