// Finds bundles of the base with the names that a change adds, in untouched catalogs. Reads whole catalogs only where
// files are, or are ignored, above the package directories.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { PullRequestChange } from '../pull-request/change.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import { findPathsUnder } from '../pull-request/incremental-list.ts'
import type { PublishedBundle } from '../checks/check.ts'
import type { TreeReader } from '../ports/repository.ts'
import type { CatalogLoader } from './catalog-loader.ts'

/** With more packages, reading whole catalogs once is cheaper. */
const maxPackageDirectoriesRead = 8

/** In the order of the layout. Empty when no bundle is added. */
export async function readPublishedBundles(
  change: Pick<PullRequestChange, 'catalogs'>,
  layout: RepositoryLayout,
  basePaths: readonly string[],
  base: { readonly repository: TreeReader; readonly loader: CatalogLoader; readonly tree: TreeSha },
): Promise<readonly PublishedBundle[]> {
  const { names, directories } = collectAddedBundlesAndDirectories(change)
  if (names.size === 0) return []
  const touched = new Set(change.catalogs.map(({ root }) => root))
  const found: PublishedBundle[] = []
  for (const { root } of layout.catalogs) {
    if (touched.has(root)) continue
    for (const location of findPackageFilePaths(root, directories, basePaths)) {
      const catalog: Catalog | undefined = await base.loader.load(base.repository, base.tree, location)
      for (const bundle of catalog?.bundles ?? [])
        if (names.has(toBundleKey(bundle))) found.push({ catalog: root, bundle })
    }
  }
  return found
}

function collectAddedBundlesAndDirectories({ catalogs }: Pick<PullRequestChange, 'catalogs'>) {
  const names = new Set<string>()
  const directories = new Set<string>()
  for (const { packages } of catalogs)
    for (const { name: its, bundles, directories: locations } of packages) {
      for (const { name } of bundles.added) names.add(toBundleKey({ package: its, name }))
      if (bundles.added.length > 0) for (const location of locations) directories.add(location)
    }
  return { names, directories }
}

function findPackageFilePaths(
  root: string,
  directories: ReadonlySet<string>,
  basePaths: readonly string[],
): readonly string[] {
  const prefix = root === '' ? '' : `${root}/`
  const below = findPathsUnder(basePaths, root).map((path) => path.slice(prefix.length))
  if (below.length === 0) return []
  const isFlat = below.some(
    (path) => !path.includes('/') && (path === '.indexignore' || !path.startsWith('.')),
  )
  if (isFlat || directories.has('') || directories.size > maxPackageDirectoriesRead) return [root]
  return [...directories]
    .filter((directory) => below.some((path) => path.startsWith(`${directory}/`)))
    .map((directory) => prefix + directory)
}

function toBundleKey({ package: its, name }: { readonly package: string; readonly name: string }): string {
  return `${its}\n${name}`
}
