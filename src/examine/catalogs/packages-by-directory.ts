// Which packages the directories of a change hold in the catalogs that it does not touch. Reads single directories
// of the base, never whole catalogs: what a file says is cached by its blob, and neighbours share most of them.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import type { TreeSha } from '../../change/ids.ts'
import type { Layout } from '../../change/layout/layout.ts'
import { hasBelow } from '../../change/sorted-paths.ts'
import type { ReadTree } from '../../ports/repository.ts'
import type { CatalogLoader } from './catalog-loader.ts'
import type { Change } from '../../change/change.ts'

/** Catalogs that are looked into for one directory, newest first: a package that no recent one has is as good as new. */
const catalogsPerDirectory = 3
/** Directories that are looked into: a change that adds more packages than that is a maintainer's anyway. */
const mostDirectories = 50

/**
 * Names of packages by directory, for directories where the change adds a package to a catalog that already existed
 * or begins: what tells a package that comes to one more catalog from a new one, where its directory has another
 * name. Empty when no package is added.
 */
export async function packagesByDirectory(
  change: Pick<Change, 'catalogs'>,
  layout: Layout,
  basePaths: readonly string[],
  base: { readonly repository: ReadTree; readonly loader: CatalogLoader; readonly tree: TreeSha },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const wanted = new Set(
    change.catalogs.flatMap(({ packages }) =>
      packages.filter(({ kind }) => kind === 'added').flatMap(({ directories }) => directories),
    ),
  )
  wanted.delete('')
  const found = new Map<string, readonly string[]>()
  const touched = new Set(change.catalogs.map(({ root }) => root))
  const others = layout.catalogs.filter(({ root }) => !touched.has(root)).toReversed()
  for (const directory of [...wanted].sort().slice(0, mostDirectories)) {
    const places = others
      .map(({ root }) => (root === '' ? directory : `${root}/${directory}`))
      .filter((place) => hasBelow(basePaths, place))
      .slice(0, catalogsPerDirectory)
    const names = new Set<string>()
    for (const place of places)
      for (const name of namesIn(await base.loader.load(base.repository, base.tree, place))) names.add(name)
    if (names.size > 0) found.set(directory, [...names].sort())
  }
  return found
}

function* namesIn(catalog: Catalog | undefined): Generator<string> {
  if (!catalog) return
  for (const { name } of catalog.packages) yield name
  for (const { package: name } of [...catalog.channels, ...catalog.bundles]) if (name !== '') yield name
}
