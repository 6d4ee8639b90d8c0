// Finds the catalogs of a tree, usually by its paths, otherwise by file contents. Pass a tree of the base branch: with a
// pull request's own tree, its author could choose who owns what.
import type { Config } from '../config/config.ts'
import type { CatalogRoot, RepositoryLayout } from '../pull-request/layout/layout.ts'
import { getTreeEntryPaths, createPathListFilter } from '../pull-request/incremental-list.ts'
import type { TreePathEntry, TreeEntry } from '../pull-request/change.ts'
import { detectLayout } from '../pull-request/layout/detect-layout.ts'
import { toTreeSha } from '../pull-request/ids.ts'
import { GitError } from '../adapters/git/git-error.ts'
import type { TreeReader, GitRepository } from '../ports/repository.ts'
import { createCachedTreeReader } from './cached-trees.ts'
import { resolveTreePath } from './linked-file.ts'

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
    const wanted: string[] = []
    const layout = detectLayout(paths, configured, (path) => {
      if (!seen.has(path)) wanted.push(path)
      return seen.get(path)
    })
    if (wanted.length === 0) return layout
    for (const path of wanted) {
      const oid = files.get(path)
      const bytes = oid === undefined || remainingBytes <= 0 ? undefined : await readSmall(oid)
      remainingBytes -= bytes?.length ?? 0
      seen.set(path, extractOlmSchemaFields(bytes))
    }
  }

  async function readSmall(oid: TreeEntry['oid']): Promise<Uint8Array | undefined> {
    try {
      return await read(oid, maxLayoutDetectionFileBytes)
    } catch (error) {
      if (error instanceof GitError && error.code === 'too-large') return undefined
      throw error
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

export const filterSymlinkEntries = createPathListFilter<TreePathEntry>(({ mode }) => mode === '120000')

/** A placeholder: the entries may be those of any tree. */
const placeholderTreeSha = toTreeSha('0'.repeat(40))

function extractOlmSchemaFields(bytes: Uint8Array = new Uint8Array()): string {
  return (Buffer.from(bytes).toString('latin1').match(olmSchemaFieldPattern) ?? [])
    .slice(0, maxSchemaFieldsPerFile)
    .join('\n')
}
