// Reads the few graph fields of a package's untouched bundles, cached by blob id across processes.
import type { ListedEntry } from '../change/path-change.ts'
import { createHash } from 'node:crypto'
import { bundleFacts, type BundleFacts } from '../bundle/bundle-facts.ts'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import { bundlePlaceOf } from '../change/layout/bundle-directory.ts'
import { defineCache, type Cache } from '../ports/cache.ts'
import type { ReadTree } from '../ports/repository.ts'
import { LruMap } from './catalogs/lru-map.ts'
import { TooLarge } from './looks/look-budget.ts'
import { bundleEntries, contentKey, hasManifest, readFiles } from './read-bundle-files.ts'

/** Per package; the largest public one needs a third of this. */
const mostNeighbourBytes = 96 * 1024 * 1024

/** The annotations, and the file that is named like a ClusterServiceVersion. */
export function neighbourEntries(entries: readonly ListedEntry[], root: string): readonly ListedEntry[] {
  const its = bundleEntries(entries, root)
  const named = its.filter(({ path }) => /\/manifests\/[^/]*(?:clusterserviceversion|csv)[^/]*$/i.test(path))
  return its.filter(
    (one) =>
      one.path.startsWith(`${root}/metadata/`) ||
      (one.path.startsWith(`${root}/manifests/`) ? named.length === 0 || named.includes(one) : false),
  )
}

const keptSeconds = 30 * 24 * 3600
/** Some hundred bytes each. */
const knownFacts = new LruMap<string, BundleFacts>(20_000, () => 1)

/** Raise the version when the facts of a bundle change: test/examine/read-neighbours.test.ts. */
export const neighbourFacts = defineCache<BundleFacts>('neighbours', {
  version: 1,
  read: (stored) => (isBundleFacts(stored) ? stored : undefined),
})

function isBundleFacts(stored: unknown): stored is BundleFacts {
  return (
    typeof stored === 'object' &&
    stored !== null &&
    'skips' in stored &&
    Array.isArray(stored.skips) &&
    'channels' in stored &&
    Array.isArray(stored.channels)
  )
}

function keyOf(wanted: readonly ListedEntry[], root: string): string {
  return createHash('sha256').update(contentKey(wanted, root)).digest('hex')
}

/** Stores a bundle's facts for later looks; `files` are all files of its directory, by relative path. */
export async function keepNeighbour(
  cache: Cache,
  entries: readonly ListedEntry[],
  root: string,
  files: BundleFiles,
): Promise<void> {
  const wanted = neighbourEntries(entries, root)
  const key = keyOf(wanted, root)
  if (knownFacts.get(key) !== undefined) return
  const its = new Map<string, Uint8Array>()
  for (const { path } of wanted) {
    const name = path.slice(root.length + 1)
    const bytes = files.get(name)
    if (bytes) its.set(name, bytes)
  }
  const facts = bundleFacts(its, { places: false })
  knownFacts.set(key, facts)
  await cache.putCached(neighbourFacts, new Map([[key, facts]]), keptSeconds)
}

/** Facts of every bundle directory; skips those in `known`. Undefined where they exceed the size limit. */
export async function readNeighbours(
  { repository, cache }: { readonly repository: ReadTree; readonly cache: Cache },
  entries: readonly ListedEntry[],
  root: string,
  known: ReadonlyMap<string, BundleFacts>,
): Promise<ReadonlyMap<string, BundleFacts> | undefined> {
  const found = new Map<string, BundleFacts | undefined>(known)
  const missing = new Map<
    string,
    { readonly its: string; readonly wanted: readonly ListedEntry[]; key: string }
  >()
  for (const [version, all] of byVersion(entries, root)) {
    const its = `${root}/${version}`
    if (found.has(version) || !hasManifest(all, its)) continue
    const wanted = neighbourEntries(all, its)
    const key = keyOf(wanted, its)
    const facts = knownFacts.get(key)
    // Keeps the order of the directories.
    found.set(version, facts)
    if (facts === undefined) missing.set(version, { its, wanted, key })
  }
  if (missing.size > 0) {
    const kept = await cache.getCached(
      neighbourFacts,
      [...missing.values()].map(({ key }) => key),
    )
    const fresh = new Map<string, BundleFacts>()
    const budget = { left: mostNeighbourBytes }
    try {
      for (const [version, { its, wanted, key }] of missing) {
        let facts = kept.get(key)
        if (facts === undefined) {
          facts = bundleFacts(await readFiles(repository, wanted, its, budget), { places: false })
          fresh.set(key, facts)
        }
        knownFacts.set(key, facts)
        found.set(version, facts)
      }
    } catch (error) {
      if (error instanceof TooLarge) return undefined
      throw error
    } finally {
      if (fresh.size > 0) await cache.putCached(neighbourFacts, fresh, keptSeconds)
    }
  }
  return new Map([...found].flatMap(([version, facts]) => (facts ? [[version, facts]] : [])))
}

function byVersion(
  entries: readonly ListedEntry[],
  root: string,
): ReadonlyMap<string, readonly ListedEntry[]> {
  const found = new Map<string, ListedEntry[]>()
  for (const entry of entries) {
    const place = bundlePlaceOf(entry.path)
    if (place === undefined || place.root !== `${root}/${place.version}`) continue
    const its = found.get(place.version)
    if (its) its.push(entry)
    else found.set(place.version, [entry])
  }
  return found
}
