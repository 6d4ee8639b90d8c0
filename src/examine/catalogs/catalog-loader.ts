// Loads whole catalogs from git trees. Facts are cached by blob id, in memory and in the store, so a pull request costs
// only the files that it touches.
import { assemble } from '../../catalog/facts/assemble.ts'
import type { Catalog, FileFacts } from '../../catalog/facts/catalog.ts'
import { factsVersion } from '../../catalog/facts/facts-version.ts'
import { unreadableFile } from '../../catalog/load/read-file.ts'
import { ignoreFileText } from '../../catalog/load/indexignore.ts'
import { isIgnoreFile, selectFiles, type Selection } from '../../catalog/load/select-files.ts'
import { linkLeadsOut } from '../../catalog/load/file-rules.ts'
import { finding, subjectOf } from '../../findings/rule.ts'
import type { BlobSha, TreeSha } from '../../change/ids.ts'
import type { ListedEntry } from '../../change/path-change.ts'
import { isGitError } from '../../git/git-error.ts'
import type { ReadTree } from '../../ports/repository.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import { linkedFile } from './linked-file.ts'
import { LruMap } from './lru-map.ts'
import type { ReaderPool } from './reader-pool.ts'

export interface CatalogLoader {
  /** The catalog below `root` (or in the one file of that name); undefined when the tree has nothing there. */
  load(repository: ReadTree, tree: TreeSha, root: string): Promise<Catalog | undefined>
  /** Keeps facts by blob across processes. Absent: memory only. */
  readonly cache?: Cache
}

const linkMode = '120000'

interface Loaded {
  readonly entries: readonly ListedEntry[]
  readonly catalog: Catalog
}

function isSameEntries(some: readonly ListedEntry[], others: readonly ListedEntry[]): boolean {
  return (
    some.length === others.length &&
    some.every((entry, at) => {
      const other = others[at]
      return (
        entry === other ||
        (entry.path === other?.path && entry.oid === other.oid && entry.mode === other.mode)
      )
    })
  )
}

/** Limit for catalogs in memory, measured by the size of their files: a quarter of a gigabyte of YAML. */
const rememberedBytes = 256 * 1024 * 1024
const rememberedCatalogs = 24

const keptSeconds = 30 * 24 * 3600
// Raise the version when the facts change shape: test/catalog/facts/facts-version.test.ts.
const fileFacts = defineCache<FileFacts>('facts', {
  version: factsVersion,
  read: (stored) => (isFileFacts(stored) ? stored : undefined),
})

function isFileFacts(stored: unknown): stored is FileFacts {
  return (
    typeof stored === 'object' && stored !== null && 'bytes' in stored && typeof stored.bytes === 'number'
  )
}

const tooHeavy = 'reading it needs more time or memory than is allowed'

/** Files in memory at once, of up to 100 MB each: enough to keep the readers and git busy. */
const readAtOnce = 8

export function catalogLoader(pool: ReaderPool, store: Cache): CatalogLoader {
  const facts = new LruMap<string, FileFacts>(rememberedBytes, (value) => value.bytes + 1000)
  const catalogs = new LruMap<string, Loaded>(rememberedCatalogs, () => 1)
  /** Recent catalogs by root, newest first: both sides of a change, and the base that follows. */
  const byRoot = new LruMap<string, readonly Loaded[]>(rememberedCatalogs, (loaded) => loaded.length)

  function remember(key: string, root: string, loaded: Loaded): void {
    catalogs.set(key, loaded)
    byRoot.set(root, [loaded, ...(byRoot.get(root) ?? [])].slice(0, 2))
  }

  async function factsOf(
    repository: ReadTree,
    entries: readonly { readonly oid: BlobSha }[],
  ): Promise<ReadonlyMap<string, FileFacts>> {
    const result = new Map<string, FileFacts>()
    const missing = new Set<BlobSha>()
    for (const { oid } of entries) {
      const known = facts.get(oid)
      if (known === undefined) missing.add(oid)
      else result.set(oid, known)
    }
    if (missing.size === 0) return result
    const stored = await store.getCached(fileFacts, [...missing])
    const fresh = new Map<string, FileFacts>()
    const left = [...missing].values()
    const readOn = async () => {
      for (const oid of left) {
        let value = stored.get(oid)
        if (value === undefined) {
          value = await pool.read(await repository.read(oid))
          if (value === undefined) {
            // Not cached, because the machine may just be busy.
            result.set(oid, unreadableFile(tooHeavy))
            continue
          }
          fresh.set(oid, value)
        }
        facts.set(oid, value)
        result.set(oid, value)
      }
    }
    await Promise.all(Array.from({ length: readAtOnce }, readOn))
    if (fresh.size > 0) await store.putCached(fileFacts, fresh, keptSeconds)
    return result
  }

  return {
    cache: store,
    async load(repository, tree, root) {
      const key = `${tree} ${root}`
      const known = catalogs.get(key)
      if (known !== undefined) return known.catalog
      let entries = await repository.list(tree, root)
      if (entries.length === 0) {
        const file = root === '' ? undefined : await repository.entry(tree, root)
        if (file === undefined) return undefined
        entries = [{ path: root, ...file }]
      }
      // Another tree with the same files has the same catalog and findings, unless links lead elsewhere now.
      const same = entries.some(({ mode }) => mode === linkMode)
        ? undefined
        : byRoot.get(root)?.find((one) => isSameEntries(one.entries, entries))
      if (same !== undefined) {
        catalogs.set(key, same)
        return same.catalog
      }
      const below = (path: string) => (root === '' || path === root ? path : path.slice(root.length + 1))
      const followed = (entry: ListedEntry) => linkedFile(repository, tree, root, entry.path, entry.oid)
      const ignores = new Map<string, string>()
      for (const entry of entries) {
        if (!isIgnoreFile(entry.path)) continue
        const oid = entry.mode === linkMode ? (await followed(entry)).file : entry.oid
        if (oid !== undefined) ignores.set(below(entry.path), ignoreFileText(await repository.read(oid)))
      }
      const selection =
        tooManyPatterns(ignores, entries.length) ??
        selectFiles(
          entries.map((entry) => below(entry.path)),
          ignores,
        )
      const selected = new Set(selection.files)
      // The ownership check rejects new links and submodules (T07); opm opens existing ones.
      const files: (Pick<ListedEntry, 'path'> & { oid: BlobSha; leadsOut: boolean })[] = []
      const dead: { path: string; facts: FileFacts }[] = []
      for (const entry of entries) {
        if (!selected.has(below(entry.path))) continue
        const { path } = entry
        if (entry.mode.startsWith('100')) files.push({ path, oid: entry.oid, leadsOut: false })
        if (entry.mode !== linkMode) continue
        const { file, leadsOut, error } = await followed(entry)
        if (file !== undefined) files.push({ path, oid: file, leadsOut })
        else {
          // opm opens a directory before it notices that it is one.
          const said =
            error === 'is a directory' ? `read ${path}: ${error}` : `open ${below(path)}: ${error ?? ''}`
          dead.push({
            path,
            facts: linkedFacts(unreadableFile(said), path, leadsOut),
          })
        }
      }
      const read = await factsOf(repository, files)
      const assembled = assemble([
        ...dead,
        ...files.flatMap(({ path, oid, leadsOut }) => {
          const value = read.get(oid)
          return value === undefined ? [] : [{ path, facts: linkedFacts(value, path, leadsOut) }]
        }),
      ])
      const { loadError } = selection
      const catalog = loadError === undefined ? assembled : { ...assembled, loadErrors: [loadError] }
      if (!catalog.loadErrors.some(({ message }) => message === tooHeavy))
        remember(key, root, { entries, catalog })
      return catalog
    },
  }
}

/** Patterns times paths, which takes some seconds. Real catalogs have few patterns. */
const mostComparisons = 10_000_000

/** Too many patterns count as an unreadable ignore file, which makes the catalog invalid. */
function tooManyPatterns(ignores: ReadonlyMap<string, string>, paths: number): Selection | undefined {
  let [patterns, length] = [0, 0]
  for (const [file, text] of ignores) {
    length += text.length
    patterns += text.split('\n').length
    if (patterns * paths > mostComparisons || length > longestIgnores)
      return {
        files: [],
        loadError: {
          file,
          message: `too many ignore patterns: ${patterns.toLocaleString('en')} for ${paths.toLocaleString('en')} paths`,
        },
      }
  }
  return undefined
}

const longestIgnores = 8 * 1024 * 1024

/** Marks facts that come from behind a link. */
function linkedFacts(facts: FileFacts, path: string, leadsOut: boolean): FileFacts {
  if (!leadsOut) return facts
  const found = { ...finding(linkLeadsOut, undefined, {}), subject: subjectOf([path]) }
  return { ...facts, findings: [...facts.findings, found] }
}

/** A text file from a tree, or '' when it is larger than 1 MB. */
export async function readText(repository: ReadTree, blob: BlobSha): Promise<string> {
  try {
    // Keeps a byte order mark, because the parsers of owner files must see it.
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await repository.read(blob, 1024 * 1024))
  } catch (error) {
    if (isGitError(error, 'too-large')) return ''
    throw error
  }
}
