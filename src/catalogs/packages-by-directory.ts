// Finds the packages that a change's directories hold in untouched catalogs of the base. Reads single directories;
// facts are cached by blob.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { TreeSha } from '../pull-request/ids.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import { hasPathUnder } from '../pull-request/incremental-list.ts'
import type { TreeReader } from '../ports/repository.ts'
import type { CatalogLoader } from './catalog-loader.ts'
import type { PullRequestChange } from '../pull-request/change.ts'

/** Newest first. A package that no recent catalog has counts as new. */
const maxCatalogsReadPerDirectory = 3
/** A change that adds more packages requires a maintainer anyway. */
const maxPackageDirectoriesRead = 50

/**
 * Package names by directory, where the change adds a package to a new or existing catalog. Distinguishes a package
 * that enters one more catalog from a new one, even when its directory has another name. Empty when no package is
 * added.
 */
export async function readPackagesByDirectory(
  change: Pick<PullRequestChange, 'catalogs'>,
  layout: RepositoryLayout,
  basePaths: readonly string[],
  base: { readonly repository: TreeReader; readonly loader: CatalogLoader; readonly tree: TreeSha },
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
  for (const directory of [...wanted].sort().slice(0, maxPackageDirectoriesRead)) {
    const locations = others
      .map(({ root }) => (root === '' ? directory : `${root}/${directory}`))
      .filter((location) => hasPathUnder(basePaths, location))
      .slice(0, maxCatalogsReadPerDirectory)
    const names = new Set<string>()
    for (const location of locations)
      for (const name of generateCatalogPackageNames(
        await base.loader.load(base.repository, base.tree, location),
      ))
        names.add(name)
    if (names.size > 0) found.set(directory, [...names].sort())
  }
  return found
}

function* generateCatalogPackageNames(catalog: Catalog | undefined): Generator<string> {
  if (!catalog) return
  for (const { name } of catalog.packages) yield name
  for (const { package: name } of [...catalog.channels, ...catalog.bundles]) if (name !== '') yield name
}
