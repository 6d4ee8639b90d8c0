// Finds the catalogs of a tree, usually by its paths, otherwise by file contents. Pass a tree of the base branch: with a
// pull request's own tree, its author could choose who owns what.
import type { Config } from '../config/config.ts'
import type { CatalogRoot, Layout } from '../change/layout/layout.ts'
import { pathsOf, sublist } from '../change/patched-list.ts'
import type { ListedEntry, TreeEntry } from '../change/path-change.ts'
import { recogniseLayout } from '../change/layout/recognise-layout.ts'
import { treeSha } from '../change/ids.ts'
import { GitError } from '../git/git-error.ts'
import type { ReadTree, Repository } from '../ports/repository.ts'
import { rememberTrees } from './remember-trees.ts'
import { pathEnd } from './catalogs/linked-file.ts'

/** Larger files are not inspected. */
const mostBytes = 32 * 1024 * 1024
/** Limit for all files together, so that a repository without catalogs is not read in full at every look. */
const mostBytesInAll = 256 * 1024 * 1024
const schemas = /"?schema"?[ \t]*:[ \t]*["']?olm\.[a-z.]+["'\s,}]/gi
const mostSchemas = 1000

/** Rejects with a GitError where a file cannot be read. */
export async function findLayout(
  { read }: Pick<Repository, 'read'>,
  entries: readonly ListedEntry[],
  configured: Config['catalogs'],
): Promise<Layout> {
  const paths = pathsOf(entries)
  const told = recogniseLayout(paths, configured)
  if (configured.length > 0) return { ...told, catalogs: await withoutLinks(told.catalogs, entries, read) }
  if (told.catalogs.length > 0) return told
  const files = new Map(
    entries.filter(({ mode }) => mode.startsWith('100')).map(({ path, oid }) => [path, oid]),
  )
  const seen = new Map<string, string>()
  let left = mostBytesInAll
  for (;;) {
    const wanted: string[] = []
    const layout = recogniseLayout(paths, configured, (path) => {
      if (!seen.has(path)) wanted.push(path)
      return seen.get(path)
    })
    if (wanted.length === 0) return layout
    for (const path of wanted) {
      const oid = files.get(path)
      const bytes = oid === undefined || left <= 0 ? undefined : await readSmall(oid)
      left -= bytes?.length ?? 0
      seen.set(path, schemasIn(bytes))
    }
  }

  async function readSmall(oid: TreeEntry['oid']): Promise<Uint8Array | undefined> {
    try {
      return await read(oid, mostBytes)
    } catch (error) {
      if (error instanceof GitError && error.code === 'too-large') return undefined
      throw error
    }
  }
}

/** Resolves configured directories that are links or lie below one, as opm does. */
async function withoutLinks(
  catalogs: readonly CatalogRoot[],
  entries: readonly ListedEntry[],
  read: Repository['read'],
): Promise<readonly CatalogRoot[]> {
  if (linksIn(entries).length === 0) return catalogs
  const look = rememberTrees({ read } as ReadTree, { trees: new Map([[anyTree, entries]]), blobs: new Map() })
  const found = new Map<string, CatalogRoot>()
  for (const catalog of catalogs) {
    const end = await pathEnd(look, anyTree, catalog.root)
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

export const linksIn = sublist<ListedEntry>(({ mode }) => mode === '120000')

/** A placeholder: the entries may be those of any tree. */
const anyTree = treeSha('0'.repeat(40))

function schemasIn(bytes: Uint8Array = new Uint8Array()): string {
  return (Buffer.from(bytes).toString('latin1').match(schemas) ?? []).slice(0, mostSchemas).join('\n')
}
