// Reads the few graph fields of a package's untouched bundles, cached by blob id across processes.
import type { TreePathEntry } from '../pull-request/change.ts'
import { createHash } from 'node:crypto'
import {
  readBundleUpgradeMetadata,
  type BundleUpgradeMetadata,
} from '@catalog-bot/bundle/bundle-upgrade-metadata'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { parseBundlePath } from '../pull-request/layout/layout.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { TreeReader } from '../ports/repository.ts'
import { LruMap } from '../adapters/lru-map.ts'
import { ChangeTooLargeError } from '../catalogs/reader-pool.ts'
import {
  filterEntriesInBundleDirectory,
  computeDirectoryContentKey,
  hasManifestsDirectory,
  readBundleFiles,
} from '../catalogs/read-bundle-files.ts'
import { getOrCreate } from '@catalog-bot/findings/memoize'

/** Per package; the largest public one needs a third of this. */
const maxSiblingBundleBytes = 96 * 1024 * 1024

/** The annotations, and the file that is named like a ClusterServiceVersion. */
export function filterAnnotationsAndCsvFiles(
  entries: readonly TreePathEntry[],
  root: string,
): readonly TreePathEntry[] {
  const its = filterEntriesInBundleDirectory(entries, root)
  const named = its.filter(({ path }) => /\/manifests\/[^/]*(?:clusterserviceversion|csv)[^/]*$/i.test(path))
  return its.filter(
    (one) =>
      one.path.startsWith(`${root}/metadata/`) ||
      (one.path.startsWith(`${root}/manifests/`) ? named.length === 0 || named.includes(one) : false),
  )
}

const siblingBundleCacheSeconds = 30 * 24 * 3600
/** Some hundred bytes each. */
const siblingBundleMetadataLruCache = new LruMap<string, BundleUpgradeMetadata>(20_000, () => 1)

/** Raise the version when the facts of a bundle change: test/evaluate/read-sibling-bundles.test.ts. */
export const siblingBundleMetadataCacheNamespace = defineCacheNamespace<BundleUpgradeMetadata>(
  'neighbours',
  1,
  (stored) => (isBundleUpgradeMetadata(stored) ? stored : undefined),
)

function isBundleUpgradeMetadata(stored: unknown): stored is BundleUpgradeMetadata {
  return (
    typeof stored === 'object' &&
    stored !== null &&
    'skips' in stored &&
    Array.isArray(stored.skips) &&
    'channels' in stored &&
    Array.isArray(stored.channels)
  )
}

function toSiblingBundleCacheKey(metadataFiles: readonly TreePathEntry[], root: string): string {
  return createHash('sha256').update(computeDirectoryContentKey(metadataFiles, root)).digest('hex')
}

/** Stores a bundle's facts for later evaluations; `files` are all files of its directory, by relative path. */
export async function cacheBundleUpgradeMetadata(
  cache: Cache,
  entries: readonly TreePathEntry[],
  root: string,
  files: BundleFiles,
): Promise<void> {
  const metadataFiles = filterAnnotationsAndCsvFiles(entries, root)
  const key = toSiblingBundleCacheKey(metadataFiles, root)
  if (siblingBundleMetadataLruCache.get(key) !== undefined) return
  const its = new Map<string, Uint8Array>()
  for (const { path } of metadataFiles) {
    const name = path.slice(root.length + 1)
    const bytes = files.get(name)
    if (bytes) its.set(name, bytes)
  }
  const facts = readBundleUpgradeMetadata(its, { places: false })
  siblingBundleMetadataLruCache.set(key, facts)
  await cache.putCached(
    siblingBundleMetadataCacheNamespace,
    new Map([[key, facts]]),
    siblingBundleCacheSeconds,
  )
}

/** Facts of every bundle directory; skips those in `known`. Undefined where they exceed the size limit. */
export async function readSiblingBundleMetadata(
  { repository, cache }: { readonly repository: TreeReader; readonly cache: Cache },
  entries: readonly TreePathEntry[],
  root: string,
  known: ReadonlyMap<string, BundleUpgradeMetadata>,
): Promise<ReadonlyMap<string, BundleUpgradeMetadata> | undefined> {
  const found = new Map<string, BundleUpgradeMetadata | undefined>(known)
  const missing = new Map<
    string,
    { readonly its: string; readonly metadataFiles: readonly TreePathEntry[]; key: string }
  >()
  for (const [version, all] of groupTreeEntriesByVersion(entries, root)) {
    const its = `${root}/${version}`
    if (found.has(version) || !hasManifestsDirectory(all, its)) continue
    const metadataFiles = filterAnnotationsAndCsvFiles(all, its)
    const key = toSiblingBundleCacheKey(metadataFiles, its)
    const facts = siblingBundleMetadataLruCache.get(key)
    // Keeps the order of the directories.
    found.set(version, facts)
    if (facts === undefined) missing.set(version, { its, metadataFiles, key })
  }
  if (missing.size > 0) {
    const cached = await cache.getCached(
      siblingBundleMetadataCacheNamespace,
      [...missing.values()].map(({ key }) => key),
    )
    const fresh = new Map<string, BundleUpgradeMetadata>()
    const budget = { left: maxSiblingBundleBytes }
    try {
      for (const [version, { its, metadataFiles, key }] of missing) {
        let facts = cached.get(key)
        if (facts === undefined) {
          facts = readBundleUpgradeMetadata(await readBundleFiles(repository, metadataFiles, its, budget), {
            places: false,
          })
          fresh.set(key, facts)
        }
        siblingBundleMetadataLruCache.set(key, facts)
        found.set(version, facts)
      }
    } catch (error) {
      if (error instanceof ChangeTooLargeError) return undefined
      throw error
    } finally {
      if (fresh.size > 0)
        await cache.putCached(siblingBundleMetadataCacheNamespace, fresh, siblingBundleCacheSeconds)
    }
  }
  return new Map([...found].flatMap(([version, facts]) => (facts ? [[version, facts]] : [])))
}

function groupTreeEntriesByVersion(
  entries: readonly TreePathEntry[],
  root: string,
): ReadonlyMap<string, readonly TreePathEntry[]> {
  const found = new Map<string, TreePathEntry[]>()
  for (const entry of entries) {
    const bundlePath = parseBundlePath(entry.path)
    if (bundlePath === undefined || bundlePath.root !== `${root}/${bundlePath.version}`) continue
    getOrCreate(found, bundlePath.version, () => []).push(entry)
  }
  return found
}
