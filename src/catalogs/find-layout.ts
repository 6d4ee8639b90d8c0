// Finds the catalogs of a tree, usually by paths, and otherwise by file contents. Pass a tree of the base branch,
// because the author of a pull request could choose the owners with the pull request's own tree.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { Config } from '../config/config.ts'
import type { CatalogRoot, RepositoryLayout } from '../pull-request/layout/layout.ts'
import {
  getTreeEntryPaths,
  findPathsInDirectory,
  findTreeEntry,
  hasPathInDirectory,
} from '../pull-request/incremental-path-list.ts'
import type { TreePathEntry, PullRequestChange } from '../pull-request/change.ts'
import { detectLayout } from '../pull-request/layout/detect-layout.ts'
import { toTreeSha, type BlobSha, type TreeSha } from '../pull-request/ids.ts'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import type { TreeReader, GitRepository } from '../ports/repository.ts'
import { filterSymlinkEntries, resolveTreePath } from './linked-file.ts'
import type { CatalogLoader } from './catalog-loader.ts'

/** Newest first. A package that no recent catalog has counts as new. */
const maxCatalogsReadPerDirectory = 3

/** A change that adds more packages requires a maintainer anyway. */
const maxPackageDirectoriesRead = 50

interface LoadedGitObjects {
  readonly trees: ReadonlyMap<TreeSha, readonly TreePathEntry[]>
  /** Blobs that are read or being read. */
  readonly blobs: ReadonlyMap<BlobSha, Promise<Uint8Array>>
}

/** Larger files are not inspected. */
const maxLayoutDetectionFileBytes = 32 * 1024 * 1024
/** Limit for all files together, so that a repository without catalogs is not read in full at every evaluation. */
const maxLayoutDetectionTotalBytes = 256 * 1024 * 1024
const olmSchemaFieldPattern = /"?schema"?[ \t]*:[ \t]*["']?olm\.[a-z.]+["'\s,}]/gi
const maxSchemaFieldsPerFile = 1000

/** Rejects with a GitError where a file cannot be read. */
export async function readRepositoryLayout(
  { read }: Pick<GitRepository, 'read'>,
  entries: readonly TreePathEntry[],
  configured: Config['catalogs'],
): Promise<RepositoryLayout> {
  const paths = getTreeEntryPaths(entries)
  const pathLayout = detectLayout(paths, configured)
  if (configured.length > 0)
    return { ...pathLayout, catalogs: await resolveSymlinkedCatalogRoots(pathLayout.catalogs, entries, read) }
  if (pathLayout.catalogs.length > 0) return pathLayout
  const files = new Map(
    entries.filter(({ mode }) => mode.startsWith('100')).map(({ path, oid }) => [path, oid]),
  )
  const seen = new Map<string, string>()
  let remainingBytes = maxLayoutDetectionTotalBytes
  for (;;) {
    const unreadPaths: string[] = []
    const layout = detectLayout(paths, configured, (path) => {
      if (!seen.has(path)) unreadPaths.push(path)
      return seen.get(path)
    })
    if (unreadPaths.length === 0) return layout
    for (const path of unreadPaths) {
      const oid = files.get(path)
      const isRead = oid !== undefined && remainingBytes > 0
      const bytes = isRead ? await catchTooLarge(read(oid, maxLayoutDetectionFileBytes)) : undefined
      remainingBytes -= bytes?.length ?? 0
      seen.set(path, extractOlmSchemaFields(bytes))
    }
  }
}

/** Resolves configured directories that are links or lie below one, as opm does. */
async function resolveSymlinkedCatalogRoots(
  catalogs: readonly CatalogRoot[],
  entries: readonly TreePathEntry[],
  read: GitRepository['read'],
): Promise<readonly CatalogRoot[]> {
  if (filterSymlinkEntries(entries).length === 0) return catalogs
  const treeReader = createCachedTreeReader({ read } as TreeReader, {
    trees: new Map([[placeholderTreeSha, entries]]),
    blobs: new Map(),
  })
  const found = new Map<string, CatalogRoot>()
  for (const catalog of catalogs) {
    const end = await resolveTreePath(treeReader, placeholderTreeSha, catalog.root)
    const root = end.links.length === 0 ? catalog.root : (end.path ?? catalog.root)
    const before = found.get(root)
    if (root === catalog.root && before === undefined) found.set(root, catalog)
    else {
      const names = [...(before ? (before.names ?? [before.root]) : []), catalog.root]
      found.set(root, { ...catalog, ...before, root, names })
    }
  }
  return [...found.values()]
}

/** A placeholder: the entries may be those of any tree. */
const placeholderTreeSha = toTreeSha('0'.repeat(40))

function extractOlmSchemaFields(bytes: Uint8Array = new Uint8Array()): string {
  return (Buffer.from(bytes).toString('latin1').match(olmSchemaFieldPattern) ?? [])
    .slice(0, maxSchemaFieldsPerFile)
    .join('\n')
}

/**
 * Caches what one evaluation has listed and read of its trees, so that no file is read from git twice. Falls back to
 * `repository`, with its limits and errors.
 */
export function createCachedTreeReader(
  repository: TreeReader,
  { trees, blobs }: LoadedGitObjects,
): TreeReader {
  return {
    list: (tree, prefix = '') => {
      const entries = trees.get(tree)
      return entries === undefined
        ? repository.list(tree, prefix)
        : Promise.resolve(findPathsInDirectory(entries, prefix))
    },
    entry: (tree, path) => {
      const entries = trees.get(tree)
      return entries === undefined
        ? repository.entry(tree, path)
        : Promise.resolve(findTreeEntry(entries, path))
    },
    read: async (blob, limit) => {
      const bytes = await blobs.get(blob)
      const isEnough = bytes !== undefined && (limit === undefined || bytes.length <= limit)
      return isEnough ? bytes : repository.read(blob, limit)
    },
  }
}

/**
 * Packages, by directory, that catalogs of the base have where the change adds one: a package that enters one more
 * catalog is not new, even under another directory name. Reads single directories; facts are cached.
 */
export async function readPackagesByDirectory(
  change: Pick<PullRequestChange, 'catalogs'>,
  layout: RepositoryLayout,
  basePaths: readonly string[],
  base: { readonly repository: TreeReader; readonly loader: CatalogLoader; readonly tree: TreeSha },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const addedDirectories = new Set(
    change.catalogs.flatMap(({ packages }) =>
      packages.filter(({ kind }) => kind === 'added').flatMap(({ directories }) => directories),
    ),
  )
  addedDirectories.delete('')
  const found = new Map<string, readonly string[]>()
  const touched = new Set(change.catalogs.map(({ root }) => root))
  const others = layout.catalogs.filter(({ root }) => !touched.has(root)).toReversed()
  for (const directory of [...addedDirectories].sort().slice(0, maxPackageDirectoriesRead)) {
    const locations = others
      .map(({ root }) => (root === '' ? directory : `${root}/${directory}`))
      .filter((location) => hasPathInDirectory(basePaths, location))
      .slice(0, maxCatalogsReadPerDirectory)
    const names = new Set<string>()
    for (const location of locations)
      for (const name of iterateCatalogPackageNames(
        await base.loader.load(base.repository, base.tree, location),
      ))
        names.add(name)
    if (names.size > 0) found.set(directory, [...names].sort())
  }
  return found
}

function* iterateCatalogPackageNames(catalog: Catalog | undefined): Generator<string> {
  if (!catalog) return
  for (const { name } of catalog.packages) yield name
  for (const { package: name } of [...catalog.channels, ...catalog.bundles]) if (name !== '') yield name
}
