import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import type { TreePathEntry, PullRequestChange } from '../pull-request/change.ts'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import type { TreeReader } from '../ports/repository.ts'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { ChangeTooLargeError } from './reader-pool.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import type { RepositoryLayout } from '../pull-request/layout/layout.ts'
import { findPathsInDirectory } from '../pull-request/incremental-path-list.ts'
import type { PublishedBundle } from '../checks/check.ts'
import { toBundleKey } from '../checks/images/bundles-to-open.ts'
import type { CatalogLoader } from './catalog-loader.ts'

/** With more packages, reading whole catalogs once is cheaper. */
const maxPackageDirectoriesToRead = 8

/** Limit for all touched bundles. A megabyte takes about a tenth of a second; the largest public release has 3 MB. */
export const maxTotalTouchedBundleBytes = 128 * 1024 * 1024
/** Per file. The API server's limit for an object is a hundredth of this. */
const maxBundleFileBytes = 16 * 1024 * 1024
/** Batched because each round trip to git costs more than a small file. */
const maxParallelBundleFileReads = 8
/** Excludes links and submodules, which the ownership check rejects. */
export function filterEntriesInBundleDirectory(
  entries: readonly TreePathEntry[],
  root: string,
): readonly TreePathEntry[] {
  return entries.filter(({ path, mode }) => path.startsWith(`${root}/`) && mode.startsWith('100'))
}

export const hasManifestsDirectory = (entries: readonly TreePathEntry[], root: string): boolean =>
  entries.some(({ path }) => path.startsWith(`${root}/manifests/`))

/** Identifies a directory's content regardless of its location. Names may contain any character, even line breaks. */
export function computeDirectoryContentKey(entries: readonly TreePathEntry[], root: string): string {
  return JSON.stringify(entries.map(({ path, oid }) => [oid, path.slice(root.length + 1)]))
}

export async function readBundleFiles(
  repository: TreeReader,
  entries: readonly TreePathEntry[],
  root: string,
  budget: { left: number },
): Promise<BundleFiles> {
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at < entries.length; at += maxParallelBundleFileReads) {
    const read = await Promise.all(
      entries
        .slice(at, at + maxParallelBundleFileReads)
        .map(async ({ path, oid }) => [path, await readBundleFile(repository, oid, path)] as const),
    )
    for (const [path, bytes] of read) {
      budget.left -= bytes.length
      if (budget.left < 0)
        throw new ChangeTooLargeError(
          `the bundle directories are larger than ${Math.floor(maxTotalTouchedBundleBytes / 1024 / 1024)} MB in total`,
        )
      files.set(path.slice(root.length + 1), bytes)
    }
  }
  return files
}

async function readBundleFile(
  repository: TreeReader,
  oid: TreePathEntry['oid'],
  path: string,
): Promise<Uint8Array> {
  const bytes = await catchTooLarge(repository.read(oid, maxBundleFileBytes))
  if (bytes !== undefined) return bytes
  throw new ChangeTooLargeError(`${path} is larger than ${maxBundleFileBytes / 1024 / 1024} MB`)
}

/**
 * Finds bundles of the base with the names that a change adds, in untouched catalogs. Reads whole catalogs only where
 * files are, or are ignored, above the package directories. In the order of the layout. Empty when no bundle is added.
 */
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
  const below = findPathsInDirectory(basePaths, root).map((path) => path.slice(prefix.length))
  if (below.length === 0) return []
  const isFlat = below.some(
    (path) => !path.includes('/') && (path === '.indexignore' || !path.startsWith('.')),
  )
  if (isFlat || directories.has('') || directories.size > maxPackageDirectoriesToRead) return [root]
  return [...directories]
    .filter((directory) => below.some((path) => path.startsWith(`${directory}/`)))
    .map((directory) => prefix + directory)
}
