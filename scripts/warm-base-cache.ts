// Warms the cache for a base that catalog-bot has already evaluated: the metadata of a package's bundles, and the
// contents of its catalogs. It contains no data from pull requests.
import type { CommitSha } from '../src/pull-request/ids.ts'
import { detectLayout } from '../src/pull-request/layout/detect-layout.ts'
import { getTreeEntryPaths, hasPathInDirectory } from '../src/pull-request/incremental-path-list.ts'
import type { CatalogLoader } from '../src/catalogs/catalog-loader.ts'
import { noopCache } from '../src/catalogs/memory-cache.ts'
import { readSiblingBundleMetadata } from '../src/evaluate/read-sibling-bundles.ts'
import type { GitRepository } from '../src/ports/repository.ts'

/** Reads the neighbors at `base` of the paths that differ from `next`. Rejects with a GitError. */
export async function warmBaseCache(
  { repository, loader }: { readonly repository: GitRepository; readonly loader: CatalogLoader },
  base: CommitSha,
  next: CommitSha,
): Promise<void> {
  const tree = await repository.treeOf(base)
  const entries = await repository.list(tree)
  const paths = (await repository.diff(tree, await repository.treeOf(next))).map(({ path }) => path)
  const basePaths = getTreeEntryPaths(entries)
  const { catalogs } = detectLayout(basePaths, [])
  const directories = new Set<string>()
  for (const path of paths) {
    const directory = /^operators\/([^/]+)\//.exec(path)?.[1]
    if (directory !== undefined) directories.add(directory)
    for (const { root } of catalogs)
      if (path.startsWith(`${root}/`)) directories.add(path.slice(root.length + 1).split('/')[0] ?? '')
  }
  for (const directory of directories) {
    const root = `operators/${directory}`
    await readSiblingBundleMetadata(
      { repository, cache: loader.cache ?? noopCache },
      await repository.list(tree, root),
      root,
      new Map(),
    )
    for (const catalog of catalogs) await loadDirectory(`${catalog.root}/${directory}`)
  }
  for (const { root } of catalogs)
    if (paths.some((path) => path.startsWith(`${root}/`))) await loader.load(repository, tree, root)

  async function loadDirectory(path: string): Promise<void> {
    if (hasPathInDirectory(basePaths, path)) await loader.load(repository, tree, path)
  }
}
