// Which packages a file declares, before and after: ownership is decided on content as well as on place (T11).
import type { Catalog } from '../../catalog/facts/catalog.ts'
import type { Mark } from '../../go/mark.ts'
import type { CatalogChange } from '../../change/change.ts'

export interface DeclaredInFile {
  /** Packages that the file's blobs name, on either side, each with a place where it is named (the result's, if any). */
  readonly packages: ReadonlyMap<string, Mark>
}

const silent: DeclaredInFile = { packages: new Map() }

export interface DeclaredPackages {
  /** The packages that the file at a path declares. */
  of(path: string): DeclaredInFile
  /** Directories ('' for files directly in the catalog) that declare each package at the base. */
  homes(packageName: string): ReadonlySet<string>
  /** Packages that a directory declares at the base. */
  at(directory: string): ReadonlySet<string>
}

/**
 * How the places of a catalog's blobs become paths of the repository. They may be given from either root; which, the
 * list of all files tells, never a single path: `root/root/x` could be made to mean two things.
 */
export function repositoryPaths({ root, base, result }: CatalogChange): (file: string) => string {
  const prefix = root === '' ? '' : `${root}/`
  const files = (base ?? result)?.files ?? []
  const fromRepository = files.length > 0 && files.every(({ path }) => path.startsWith(prefix))
  return (file) => (fromRepository ? file : prefix + file)
}

/** Reads one catalog's blobs, before and after. */
export function declaredPackagesOf(catalog: CatalogChange): DeclaredPackages {
  const declared = new Map<string, Map<string, Mark>>()
  const homes = new Map<string, Set<string>>()
  const at = new Map<string, Set<string>>()
  const prefix = catalog.root === '' ? '' : `${catalog.root}/`
  const toPath = repositoryPaths(catalog)
  for (const { file, name, mark } of namesIn(catalog.base)) {
    const path = toPath(file)
    const inside = path.slice(prefix.length)
    const directory = inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : ''
    add(homes, name, directory)
    add(at, directory, name)
    remember(path, name, mark)
  }
  // The result's places come last: findings point at what would be merged.
  for (const { file, name, mark } of namesIn(catalog.result)) remember(toPath(file), name, mark)

  function remember(path: string, name: string, mark: Mark): void {
    const packages = declared.get(path) ?? new Map<string, Mark>()
    packages.set(name, mark)
    declared.set(path, packages)
  }

  return {
    of: (path) => {
      const packages = declared.get(path)
      return packages ? { packages } : silent
    },
    homes: (name) => homes.get(name) ?? new Set(),
    at: (directory) => at.get(directory) ?? new Set(),
  }
}

function* namesIn(catalog: Catalog | undefined): Generator<{ file: string; name: string; mark: Mark }> {
  if (!catalog) return
  for (const { place, name } of catalog.packages) yield { file: place.file, name, mark: place }
  for (const blobs of [catalog.channels, catalog.bundles, catalog.deprecations, catalog.others])
    for (const { place, package: name } of blobs)
      if (name !== '') yield { file: place.file, name, mark: place }
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key) ?? new Set<string>()
  set.add(value)
  map.set(key, set)
}
