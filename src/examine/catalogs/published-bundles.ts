// Finds bundles of the base with the names that a change adds, in untouched catalogs. Reads whole catalogs only where
// files are, or are ignored, above the package directories.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import type { Change } from '../../change/change.ts'
import type { TreeSha } from '../../change/ids.ts'
import type { Layout } from '../../change/layout/layout.ts'
import { pathsBelow } from '../../change/sorted-paths.ts'
import type { PublishedBundle } from '../../checks/check.ts'
import type { ReadTree } from '../../ports/repository.ts'
import type { CatalogLoader } from './catalog-loader.ts'

/** With more packages, reading whole catalogs once is cheaper. */
const mostDirectories = 8

/** In the order of the layout. Empty when no bundle is added. */
export async function publishedBundles(
  change: Pick<Change, 'catalogs'>,
  layout: Layout,
  basePaths: readonly string[],
  base: { readonly repository: ReadTree; readonly loader: CatalogLoader; readonly tree: TreeSha },
): Promise<readonly PublishedBundle[]> {
  const { names, directories } = additionsOf(change)
  if (names.size === 0) return []
  const touched = new Set(change.catalogs.map(({ root }) => root))
  const found: PublishedBundle[] = []
  for (const { root } of layout.catalogs) {
    if (touched.has(root)) continue
    for (const place of placesIn(root, directories, basePaths)) {
      const catalog: Catalog | undefined = await base.loader.load(base.repository, base.tree, place)
      for (const bundle of catalog?.bundles ?? [])
        if (names.has(keyOf(bundle))) found.push({ catalog: root, bundle })
    }
  }
  return found
}

function additionsOf({ catalogs }: Pick<Change, 'catalogs'>) {
  const names = new Set<string>()
  const directories = new Set<string>()
  for (const { packages } of catalogs)
    for (const { name: its, bundles, directories: places } of packages) {
      for (const { name } of bundles.added) names.add(keyOf({ package: its, name }))
      if (bundles.added.length > 0) for (const place of places) directories.add(place)
    }
  return { names, directories }
}

function placesIn(
  root: string,
  directories: ReadonlySet<string>,
  basePaths: readonly string[],
): readonly string[] {
  const prefix = root === '' ? '' : `${root}/`
  const below = pathsBelow(basePaths, root).map((path) => path.slice(prefix.length))
  if (below.length === 0) return []
  const isFlat = below.some(
    (path) => !path.includes('/') && (path === '.indexignore' || !path.startsWith('.')),
  )
  if (isFlat || directories.has('') || directories.size > mostDirectories) return [root]
  return [...directories]
    .filter((directory) => below.some((path) => path.startsWith(`${directory}/`)))
    .map((directory) => prefix + directory)
}

function keyOf({ package: its, name }: { readonly package: string; readonly name: string }): string {
  return `${its}\n${name}`
}
