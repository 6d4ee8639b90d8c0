// What the bot knows of a base that it has stood on before: what the bundles of a package say of their place, and what
// catalogs say. Nothing of what a pull request brings.
import type { CommitSha } from '../src/change/ids.ts'
import { recogniseLayout } from '../src/change/layout/recognise-layout.ts'
import { pathsOf } from '../src/change/patched-list.ts'
import { hasBelow } from '../src/change/sorted-paths.ts'
import type { CatalogLoader } from '../src/examine/catalogs/catalog-loader.ts'
import { forgetfulCache } from '../src/examine/forgetful.ts'
import { readNeighbours } from '../src/examine/read-neighbours.ts'
import type { Repository } from '../src/ports/repository.ts'

/** Reads at `base` whatever stands beside the paths in which it differs from `next`. Rejects with a GitError. */
export async function lookAtBase(
  { repository, loader }: { readonly repository: Repository; readonly loader: CatalogLoader },
  base: CommitSha,
  next: CommitSha,
): Promise<void> {
  const tree = await repository.treeOf(base)
  const entries = await repository.list(tree)
  const paths = (await repository.diff(tree, await repository.treeOf(next))).map(({ path }) => path)
  const basePaths = pathsOf(entries)
  const { catalogs } = recogniseLayout(basePaths, [])
  const directories = new Set<string>()
  for (const path of paths) {
    const directory = /^operators\/([^/]+)\//.exec(path)?.[1]
    if (directory !== undefined) directories.add(directory)
    for (const { root } of catalogs)
      if (path.startsWith(`${root}/`)) directories.add(path.slice(root.length + 1).split('/')[0] ?? '')
  }
  for (const directory of directories) {
    const root = `operators/${directory}`
    await readNeighbours(
      { repository, cache: loader.cache ?? forgetfulCache },
      await repository.list(tree, root),
      root,
      new Map(),
    )
    for (const catalog of catalogs) await loadPlace(`${catalog.root}/${directory}`)
  }
  for (const { root } of catalogs)
    if (paths.some((path) => path.startsWith(`${root}/`))) await loader.load(repository, tree, root)

  async function loadPlace(place: string): Promise<void> {
    if (hasBelow(basePaths, place)) await loader.load(repository, tree, place)
  }
}
