// Caches facts of catalog files on disk, by content and reader version. Cache errors never fail a command.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CatalogFileFacts, catalogFileFactsVersion } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { getCacheDirectory } from './cache-directory.ts'

/** Bytes. Reading a smaller file is as fast as opening its cached facts. */
const minCachedFileBytes = 16 * 1024
const maxCacheEntryAgeDays = 30
const msPerDay = 24 * 60 * 60 * 1000

export interface CatalogFileFactsCache {
  factsOf(bytes: Uint8Array): CatalogFileFacts
}

/** Creates the directory on the first write. `now` in milliseconds decides which facts have expired. */
export function openCatalogFileFactsCache(
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
function readCacheEntry(path: string, bytes: number): CatalogFileFacts | undefined {
  try {
    const entry = readFileSync(path, 'utf8')
    const lineEnd = entry.indexOf('\n')
    const json = entry.slice(lineEnd + 1)
    if (computeSha256Hex(json) !== entry.slice(0, lineEnd)) return undefined
    const facts = JSON.parse(json) as CatalogFileFacts
    return facts.bytes === bytes ? facts : undefined
  } catch {
    return undefined
  }
}

/** Renames a finished file into place, so that no other process reads half of it. */
function writeCacheEntry(path: string, facts: CatalogFileFacts): void {
  const draft = `${path}.${randomUUID()}`
  try {
    const json = JSON.stringify(facts)
    writeFileSync(draft, `${computeSha256Hex(json)}\n${json}`, { mode: 0o600, flag: 'wx' })
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
