// Loads whole catalogs from git trees. What a file says depends on its bytes alone, so it is remembered by blob id,
// in memory and in the store: a pull request costs what it touches, not what the catalog weighs (DESIGN, rule 8).
import { assemble } from '../catalog/assemble.ts'
import type { Catalog, FileFacts } from '../catalog/catalog.ts'
import { factsVersion } from '../catalog/facts-version.ts'
import { selectFiles } from '../catalog/select-files.ts'
import type { BlobSha, TreeSha } from '../change/ids.ts'
import type { TreeEntry } from '../change/path-change.ts'
import { isGitError } from '../git/git-error.ts'
import type { Repository } from '../ports/repository.ts'
import type { Store } from '../ports/store.ts'
import { LruMap } from './lru-map.ts'
import type { ReaderPool } from './reader-pool.ts'

export interface CatalogLoader {
  /** The catalog below `root` (or in the one file of that name) in a tree, or undefined when the tree has nothing there. */
  load(repository: Repository, tree: TreeSha, root: string): Promise<Catalog | undefined>
}

type Entry = { readonly path: string } & TreeEntry

/** Facts of catalogs whose files weigh this much together stay in memory: a quarter of a gigabyte of YAML. */
const rememberedBytes = 256 * 1024 * 1024
const rememberedCatalogs = 24

export function catalogLoader(
  pool: ReaderPool,
  store: Pick<Store, 'getCached' | 'putCached'>,
): CatalogLoader {
  const facts = new LruMap<string, FileFacts>(rememberedBytes, (value) => value.bytes + 1000)
  const catalogs = new LruMap<string, Catalog>(rememberedCatalogs, () => 1)
  const space = `facts ${factsVersion}`

  async function factsOf(
    repository: Repository,
    entries: readonly Entry[],
  ): Promise<ReadonlyMap<string, FileFacts>> {
    const result = new Map<string, FileFacts>()
    const missing = new Set<BlobSha>()
    for (const { oid } of entries) {
      const known = facts.get(oid)
      if (known === undefined) missing.add(oid)
      else result.set(oid, known)
    }
    if (missing.size === 0) return result
    const stored = await store.getCached(space, [...missing])
    const fresh = new Map<string, FileFacts>()
    await Promise.all(
      [...missing].map(async (oid) => {
        let value = stored.get(oid) as FileFacts | undefined
        if (value === undefined) {
          value = await pool.read(await repository.read(oid))
          fresh.set(oid, value)
        }
        facts.set(oid, value)
        result.set(oid, value)
      }),
    )
    if (fresh.size > 0) await store.putCached(space, fresh)
    return result
  }

  return {
    async load(repository, tree, root) {
      const key = `${tree} ${root}`
      const known = catalogs.get(key)
      if (known !== undefined) return known
      let entries = await repository.list(tree, root)
      if (entries.length === 0) {
        const file = root === '' ? undefined : await repository.entry(tree, root)
        if (file === undefined) return undefined
        entries = [{ path: root, ...file }]
      }
      const below = (path: string) => (root === '' || path === root ? path : path.slice(root.length + 1))
      const ignores = new Map<string, string>()
      for (const entry of entries)
        if (entry.path === '.indexignore' || entry.path.endsWith('/.indexignore'))
          ignores.set(below(entry.path), await readText(repository, entry.oid))
      const selection = selectFiles(
        entries.map((entry) => below(entry.path)),
        ignores,
      )
      const selected = new Set(selection.files)
      // Only plain files are content. Links and submodules are refused by the ownership check (T07).
      const files = entries.filter((entry) => selected.has(below(entry.path)) && entry.mode.startsWith('100'))
      const read = await factsOf(repository, files)
      const assembled = assemble(
        files.flatMap(({ path, oid }) => {
          const value = read.get(oid)
          return value === undefined ? [] : [{ path, facts: value }]
        }),
      )
      const { loadError } = selection
      const catalog = loadError === undefined ? assembled : { ...assembled, loadErrors: [loadError] }
      catalogs.set(key, catalog)
      return catalog
    },
  }
}

/** A text file from a tree, or '' when it is too large to be one of ours (1 MB). */
export async function readText(repository: Repository, blob: BlobSha): Promise<string> {
  try {
    return new TextDecoder().decode(await repository.read(blob, 1024 * 1024))
  } catch (error) {
    if (isGitError(error, 'too-large')) return ''
    throw error
  }
}
