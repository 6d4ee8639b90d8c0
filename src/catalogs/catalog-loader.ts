// Loads catalogs from git trees. Facts are cached by blob id, so a pull request costs only the files it touches.
import pLimit from 'p-limit'
import {
  type Catalog,
  type ParsedCatalogFile,
  assembleCatalog,
  parsedCatalogFileVersion,
} from '@catalog-bot/fbc/facts/catalog'
import { createUnreadableCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import {
  isIgnoreFile,
  selectCatalogFiles,
  type CatalogFileSelection,
  decodeIgnoreFile,
} from '@catalog-bot/fbc/load/select-files'
import { linkLeadsOutRule } from '@catalog-bot/fbc/load/file-rules'
import { createFinding, formatFindingSubject } from '@catalog-bot/findings/rule'
import type { Finding } from '@catalog-bot/findings/finding'
import type { BlobSha, TreeSha } from '../pull-request/ids.ts'
import type { TreePathEntry } from '../pull-request/change.ts'
import { catchTooLarge } from '../adapters/git/git-error.ts'
import type { TreeReader, GitRepository } from '../ports/repository.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import { gitSymlinkMode, resolveSymlinkedFile } from './linked-file.ts'
import { LruMap } from '../adapters/lru-map.ts'
import type { CatalogFileReaderPool } from './reader-pool.ts'
import { validateCatalogWithAllRules } from '../checks/validation/validate-fully.ts'
import { findConfiguredOpmRuleSet } from '../checks/validation/validation.ts'
import type { Config } from '../config/config.ts'

export interface CatalogValidationContext {
  readonly repository: GitRepository
  readonly loader: CatalogLoader
  readonly config: Config
}

export interface CatalogLoader {
  /** The catalog below `root` (or in the one file of that name); undefined when the tree has nothing there. */
  load(repository: TreeReader, tree: TreeSha, root: string): Promise<Catalog | undefined>
  /** Keeps facts by blob across processes. Absent: memory only. */
  readonly cache?: Cache
}

interface CachedCatalog {
  readonly entries: readonly TreePathEntry[]
  readonly catalog: Catalog
}

function areTreeEntryListsEqual(some: readonly TreePathEntry[], others: readonly TreePathEntry[]): boolean {
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
const maxCachedCatalogFileBytes = 256 * 1024 * 1024
const maxCachedCatalogs = 24

const parsedCatalogFileCacheSeconds = 30 * 24 * 3600
// Raise the version when the facts change shape: test/packages/fbc/facts/facts-version.test.ts.
const parsedCatalogFileCacheNamespace = defineCacheNamespace<ParsedCatalogFile>(
  'facts',
  parsedCatalogFileVersion,
  (stored) => (isParsedCatalogFile(stored) ? stored : undefined),
)

function isParsedCatalogFile(stored: unknown): stored is ParsedCatalogFile {
  return (
    typeof stored === 'object' && stored !== null && 'bytes' in stored && typeof stored.bytes === 'number'
  )
}

const fileReadLimitExceededMessage = 'reading the file takes more time or memory than allowed'

/** Files in memory at once, of up to 100 MB each: enough to keep the readers and git busy. */
const maxParallelCatalogFileReads = 8

export function createCatalogLoader(pool: CatalogFileReaderPool, store: Cache): CatalogLoader {
  const facts = new LruMap<string, ParsedCatalogFile>(
    maxCachedCatalogFileBytes,
    (value) => value.bytes + 1000,
  )
  const catalogs = new LruMap<string, CachedCatalog>(maxCachedCatalogs, () => 1)
  /** Recent catalogs by root, newest first: both sides of a change, and the base that follows. */
  const byRoot = new LruMap<string, readonly CachedCatalog[]>(maxCachedCatalogs, (loaded) => loaded.length)

  function cacheCatalog(key: string, root: string, loaded: CachedCatalog): void {
    catalogs.set(key, loaded)
    byRoot.set(root, [loaded, ...(byRoot.get(root) ?? [])].slice(0, 2))
  }

  async function readFacts(
    repository: TreeReader,
    entries: readonly { readonly oid: BlobSha }[],
  ): Promise<ReadonlyMap<string, ParsedCatalogFile>> {
    const result = new Map<string, ParsedCatalogFile>()
    const missing = new Set<BlobSha>()
    for (const { oid } of entries) {
      const known = facts.get(oid)
      if (known === undefined) missing.add(oid)
      else result.set(oid, known)
    }
    if (missing.size === 0) return result
    const stored = await store.getCached(parsedCatalogFileCacheNamespace, [...missing])
    const fresh = new Map<string, ParsedCatalogFile>()
    await pLimit(maxParallelCatalogFileReads).map(missing, async (oid) => {
      let value = stored.get(oid)
      if (value === undefined) {
        value = await pool.read(await repository.read(oid))
        // Not cached, because the machine may just be busy.
        if (value === undefined)
          return void result.set(oid, createUnreadableCatalogFile(fileReadLimitExceededMessage))
        fresh.set(oid, value)
      }
      facts.set(oid, value)
      result.set(oid, value)
    })
    if (fresh.size > 0)
      await store.putCached(parsedCatalogFileCacheNamespace, fresh, parsedCatalogFileCacheSeconds)
    return result
  }

  return {
    cache: store,
    async load(repository, tree, root) {
      const key = `${tree} ${root}`
      const known = catalogs.get(key)
      if (known !== undefined) return known.catalog
      const source = { repository, tree, root }
      const entries = await listCatalogTreeEntries(source)
      if (entries === undefined) return undefined
      // Another tree with the same files has the same catalog and findings, unless links lead elsewhere now.
      const same = entries.some(isSymlink)
        ? undefined
        : byRoot.get(root)?.find((one) => areTreeEntryListsEqual(one.entries, entries))
      if (same !== undefined) {
        catalogs.set(key, same)
        return same.catalog
      }
      const selection = await selectCatalogTreeFiles(source, entries)
      const { files, dead } = await resolveSelectedCatalogFiles(source, entries, new Set(selection.files))
      const read = await readFacts(repository, files)
      const assembled = assembleCatalog([
        ...dead,
        ...files.flatMap(({ path, oid, leadsOut }) => {
          const value = read.get(oid)
          return value === undefined ? [] : [{ path, facts: addSymlinkFinding(value, path, leadsOut) }]
        }),
      ])
      const { loadError } = selection
      const catalog = loadError === undefined ? assembled : { ...assembled, loadErrors: [loadError] }
      if (!catalog.loadErrors.some(({ message }) => message === fileReadLimitExceededMessage))
        cacheCatalog(key, root, { entries, catalog })
      return catalog
    },
  }
}

/** Where a catalog is: a directory, or one file, of a tree. */
interface CatalogTreeLocation {
  readonly repository: TreeReader
  readonly tree: TreeSha
  readonly root: string
}

const isSymlink = ({ mode }: TreePathEntry) => mode === gitSymlinkMode

async function listCatalogTreeEntries({ repository, tree, root }: CatalogTreeLocation) {
  const entries = await repository.list(tree, root)
  if (entries.length > 0) return entries
  const file = root === '' ? undefined : await repository.entry(tree, root)
  return file && [{ path: root, ...file }]
}

function toCatalogRelativePath(root: string, path: string): string {
  return root === '' || path === root ? path : path.slice(root.length + 1)
}

function resolveCatalogSymlink(
  { repository, tree, root }: CatalogTreeLocation,
  { path, oid }: TreePathEntry,
) {
  return resolveSymlinkedFile(repository, tree, root, path, oid)
}

async function selectCatalogTreeFiles(
  source: CatalogTreeLocation,
  entries: readonly TreePathEntry[],
): Promise<CatalogFileSelection> {
  const { repository, root } = source
  const ignores = new Map<string, string>()
  for (const entry of entries) {
    if (!isIgnoreFile(entry.path)) continue
    const oid = isSymlink(entry) ? (await resolveCatalogSymlink(source, entry)).file : entry.oid
    if (oid !== undefined)
      ignores.set(toCatalogRelativePath(root, entry.path), decodeIgnoreFile(await repository.read(oid)))
  }
  const paths = entries.map(({ path }) => toCatalogRelativePath(root, path))
  return checkIgnorePatternLimit(ignores, entries.length) ?? selectCatalogFiles(paths, ignores)
}

/** Follows links. `dead`: those that lead to no file, with opm's error. */
async function resolveSelectedCatalogFiles(
  source: CatalogTreeLocation,
  entries: readonly TreePathEntry[],
  selected: ReadonlySet<string>,
) {
  // The ownership check rejects new links and submodules (T07); opm opens existing ones.
  const files: { readonly path: string; readonly oid: BlobSha; readonly leadsOut: boolean }[] = []
  const dead: { readonly path: string; readonly facts: ParsedCatalogFile }[] = []
  for (const entry of entries) {
    const { path, oid, mode } = entry
    const relativePath = toCatalogRelativePath(source.root, path)
    if (!selected.has(relativePath)) continue
    if (mode.startsWith('100')) files.push({ path, oid, leadsOut: false })
    if (!isSymlink(entry)) continue
    const { file, leadsOut, error } = await resolveCatalogSymlink(source, entry)
    if (file !== undefined) files.push({ path, oid: file, leadsOut })
    else {
      // opm opens a directory before it notices that it is one.
      const errorText =
        error === 'is a directory' ? `read ${path}: ${error}` : `open ${relativePath}: ${error ?? ''}`
      dead.push({ path, facts: addSymlinkFinding(createUnreadableCatalogFile(errorText), path, leadsOut) })
    }
  }
  return { files, dead }
}

/** Patterns times paths, which takes some seconds. Real catalogs have few patterns. */
const maxIgnorePatternComparisons = 10_000_000

/** Too many patterns count as an unreadable ignore file, which makes the catalog invalid. */
function checkIgnorePatternLimit(
  ignores: ReadonlyMap<string, string>,
  paths: number,
): CatalogFileSelection | undefined {
  let [patterns, length] = [0, 0]
  for (const [file, text] of ignores) {
    length += text.length
    patterns += text.split('\n').length
    if (patterns * paths > maxIgnorePatternComparisons || length > maxIgnoreFileBytes)
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

const maxIgnoreFileBytes = 8 * 1024 * 1024

/** Marks facts that come from behind a link. */
function addSymlinkFinding(facts: ParsedCatalogFile, path: string, leadsOut: boolean): ParsedCatalogFile {
  if (!leadsOut) return facts
  const linkFinding = {
    ...createFinding(linkLeadsOutRule, undefined, {}),
    subject: formatFindingSubject([path]),
  }
  return { ...facts, findings: [...facts.findings, linkFinding] }
}

/** A text file from a tree, or '' when it is larger than 1 MB. */
export async function readTextBlobOrEmpty(repository: TreeReader, blob: BlobSha): Promise<string> {
  const bytes = await catchTooLarge(repository.read(blob, 1024 * 1024))
  // Keeps a byte order mark, because the parsers of owner files must see it.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/**
 * Validates a catalog at any commit of the base branch, outside the evaluation of a pull request. `root`: the
 * catalog's directory. Returns none if the catalog does not exist. Rejects with a GitError.
 */
export async function findCatalogErrors(
  tree: TreeSha,
  root: string,
  { repository, loader, config }: CatalogValidationContext,
): Promise<readonly Finding[]> {
  const catalog = await loader.load(repository, tree, root)
  if (catalog === undefined) return []
  const ruleSet = findConfiguredOpmRuleSet(config)
  const { findings } = validateCatalogWithAllRules(catalog, {
    ...(ruleSet && { ruleSet }),
    settings: config.rules,
    root,
    registries: config.images.registries,
  })
  return findings.filter(({ severity }) => severity === 'error')
}
