// Which packages a file declares, before and after: ownership depends on content as well as place.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import type { Mark } from '../../go/mark.ts'
import type { CatalogChange } from '../../change/change.ts'

export interface DeclaredInFile {
  /** Packages in the file's blobs on either side, each with a place (preferably the result's). */
  readonly packages: ReadonlyMap<string, Mark>
}

const silent: DeclaredInFile = { packages: new Map() }

export interface DeclaredPackages {
  of(path: string): DeclaredInFile
  /** Directories ('' for files directly in the catalog) that declare each package at the base. */
  homes(packageName: string): ReadonlySet<string>
  at(directory: string): ReadonlySet<string>
}

/**
 * Converts a catalog's file names to repository paths. Names may be relative to either root; the list of all files
 * tells which, because a single path such as `root/root/x` is ambiguous.
 */
export function repositoryPaths({ root, base, result }: CatalogChange): (file: string) => string {
  const prefix = root === '' ? '' : `${root}/`
  const files = (base ?? result)?.files ?? []
  const fromRepository = files.length > 0 && files.every(({ path }) => path.startsWith(prefix))
  return (file) => (fromRepository ? file : prefix + file)
}

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
  // The result comes last so that findings point at what would be merged.
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
