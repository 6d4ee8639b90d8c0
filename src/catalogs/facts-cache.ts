// Caches facts of catalog files on disk, by content and reader version. Cache errors never fail a command.
import { createHash, randomUUID } from 'node:crypto'
// Uses `fs.promises`, because `validate` needs none of it, and Node would load its module at once.
import fs, {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, isAbsolute } from 'node:path'
import { type CatalogFileFacts, catalogFileFactsVersion } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { homedir } from 'node:os'
import type { Cache, CacheNamespace } from '../ports/cache.ts'

const toCacheFolderName = (name: string): string => name.replaceAll(/[^a-z0-9]/gi, '-')

/** Bytes. Reading a smaller file is as fast as opening its cached facts. */
const minCachedFileBytes = 16 * 1024
const maxCacheEntryAgeDays = 30
const msPerDay = 24 * 60 * 60 * 1000

export interface CatalogFileFactsCache {
  factsOf(bytes: Uint8Array): CatalogFileFacts
}

/** Creates the directory on the first write. `now` in milliseconds decides which facts have expired. */
export function createCatalogFileFactsCache(
  directory = join(getCacheDirectory(), 'facts'),
  now = Date.now(),
): CatalogFileFactsCache {
  const folder = join(directory, `v${catalogFileFactsVersion}`)
  let isSwept = false
  return {
    factsOf(bytes) {
      if (bytes.length < minCachedFileBytes) return parseCatalogFile(bytes)
      const digest = createHash('sha256').update(bytes).digest('hex')
      const path = join(folder, `${digest}.json`)
      const known = readCacheEntry(path, bytes.length)
      if (known !== undefined) return known
      const facts = parseCatalogFile(bytes)
      if (!isSwept) {
        isSwept = true
        removeExpiredCacheEntries(directory, folder, now)
      }
      writeCacheEntry(path, facts)
      return facts
    },
  }
}

/** An entry is a line with a digest, then the facts, so that a damaged entry is detected. */
function encodeCacheEntry(value: unknown): string {
  const json = JSON.stringify(value)
  return `${computeSha256Hex(json)}\n${json}`
}

function decodeCacheEntry(entry: string): unknown {
  const lineEnd = entry.indexOf('\n')
  const json = entry.slice(lineEnd + 1)
  return computeSha256Hex(json) === entry.slice(0, lineEnd) ? JSON.parse(json) : undefined
}

function readCacheEntry(path: string, bytes: number): CatalogFileFacts | undefined {
  try {
    const facts = decodeCacheEntry(readFileSync(path, 'utf8')) as CatalogFileFacts | undefined
    return facts?.bytes === bytes ? facts : undefined
  } catch {
    return undefined
  }
}

/** Renames a finished file into place, so that no other process reads half of it. */
function writeCacheEntry(path: string, facts: CatalogFileFacts): void {
  const draft = `${path}.${randomUUID()}`
  try {
    writeFileSync(draft, encodeCacheEntry(facts), { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch {
    removeFileIgnoringErrors(draft)
  }
}

function removeFileIgnoringErrors(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The next sweep tries again.
  }
}

/** Creates the folder, and removes expired facts and those of other versions. Runs once, before the first write. */
function removeExpiredCacheEntries(directory: string, folder: string, now: number): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(directory)) {
      const path = join(directory, name)
      if (/^v\d+$/.test(name) && path !== folder) rmSync(path, { recursive: true, force: true })
    }
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      if (now - statSync(path).mtimeMs > maxCacheEntryAgeDays * msPerDay) rmSync(path, { force: true })
    }
  } catch {
    // Another process may be sweeping too; the next sweep removes the rest.
  }
}

function computeSha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** `CATALOG_BOT_CACHE`, or `catalog-bot` in the user's cache home. Creates nothing. */
export function getCacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment['CATALOG_BOT_CACHE']
  if (own) return own
  const shared = environment['XDG_CACHE_HOME']
  // The XDG base directory specification says to ignore relative paths.
  return join(shared && isAbsolute(shared) ? shared : join(homedir(), '.cache'), 'catalog-bot')
}

/**
 * Caches facts of files on disk by blob id, for processes without a store. Cache errors count as missing entries. Keys
 * must be object ids or digests. The first write of a version removes the entries of others.
 */
export function createContentAddressedCache(directory: string): Cache {
  const swept = new Map<string, Promise<void>>()
  const folderOf = ({ name }: CacheNamespace<unknown>) => join(directory, toCacheFolderName(name))
  return {
    async getCached<Value>(space: CacheNamespace<Value>, keys: readonly string[]) {
      const found = new Map<string, Value>()
      for (const key of keys) {
        const value = space.read(await readCachedFile(join(folderOf(space), `${key}.json`)))
        if (value !== undefined) found.set(key, value)
      }
      return found
    },
    async putCached(space, values) {
      const sweeping = swept.get(space.name) ?? removeCacheEntriesOfOtherVersions(directory, space.name)
      swept.set(space.name, sweeping)
      await sweeping
      for (const [key, value] of values)
        if (/^[0-9a-f]{40,64}$/.test(key)) await writeCachedFile(join(folderOf(space), `${key}.json`), value)
    },
  }
}

async function readCachedFile(path: string): Promise<unknown> {
  try {
    return decodeCacheEntry(await fs.promises.readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

async function writeCachedFile(path: string, value: unknown): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  try {
    await fs.promises.writeFile(draft, encodeCacheEntry(value), { mode: 0o600, flag: 'wx' })
    await fs.promises.rename(draft, path)
  } catch {
    await fs.promises.rm(draft, { force: true }).catch(() => undefined)
  }
}

/** Removes only other versions of the same kind; other kinds share the directory. */
async function removeCacheEntriesOfOtherVersions(directory: string, name: string): Promise<void> {
  const folder = join(directory, toCacheFolderName(name))
  const kind = `${toCacheFolderName(name.slice(0, name.lastIndexOf(' ')))}-`
  try {
    await fs.promises.mkdir(folder, { recursive: true, mode: 0o700 })
    for (const other of await fs.promises.readdir(directory)) {
      const path = join(directory, other)
      if (other.startsWith(kind) && path !== folder)
        await fs.promises.rm(path, { recursive: true, force: true })
    }
    for (const file of await fs.promises.readdir(folder)) {
      const path = join(folder, file)
      if (Date.now() - (await fs.promises.stat(path)).mtimeMs > maxCacheEntryAgeDays * msPerDay)
        await fs.promises.rm(path, { force: true })
    }
  } catch {
    // Another process may be sweeping too; the next sweep removes the rest.
  }
}
