// Caches facts of files on disk by blob id, for processes without a store. Cache errors count as missing entries.
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cache, CacheNamespace } from '../ports/cache.ts'

const maxCacheEntryAgeDays = 30
const msPerDay = 24 * 60 * 60 * 1000

/** Keys must be object ids or digests. The first write of a version removes the entries of others. */
export function openContentAddressedCache(directory: string): Cache {
  const swept = new Map<string, Promise<void>>()
  const folderOf = ({ name }: CacheNamespace<unknown>) => join(directory, toCacheFolderName(name))
  return {
    async getCached<Value>(space: CacheNamespace<Value>, keys: readonly string[]) {
      const found = new Map<string, Value>()
      for (const key of keys) {
        const value = space.read(await readCacheEntry(join(folderOf(space), `${key}.json`)))
        if (value !== undefined) found.set(key, value)
      }
      return found
    },
    async putCached(space, values) {
      const sweeping = swept.get(space.name) ?? removeCacheEntriesOfOtherVersions(directory, space.name)
      swept.set(space.name, sweeping)
      await sweeping
      for (const [key, value] of values)
        if (/^[0-9a-f]{40,64}$/.test(key)) await writeCacheEntry(join(folderOf(space), `${key}.json`), value)
    },
  }
}

/** An entry is a line with a digest, then the facts, so that a damaged entry is detected. */
async function readCacheEntry(path: string): Promise<unknown> {
  try {
    const entry = await readFile(path, 'utf8')
    const lineEnd = entry.indexOf('\n')
    const json = entry.slice(lineEnd + 1)
    return computeSha256Hex(json) === entry.slice(0, lineEnd) ? JSON.parse(json) : undefined
  } catch {
    return undefined
  }
}

/** Renames a finished file into place, so that no other process reads half of it. */
async function writeCacheEntry(path: string, value: unknown): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  try {
    const json = JSON.stringify(value)
    await writeFile(draft, `${computeSha256Hex(json)}\n${json}`, { mode: 0o600, flag: 'wx' })
    await rename(draft, path)
  } catch {
    await rm(draft, { force: true }).catch(() => undefined)
  }
}

const toCacheFolderName = (name: string): string => name.replaceAll(/[^a-z0-9]/gi, '-')

/** Removes only other versions of the same kind; other kinds share the directory. */
async function removeCacheEntriesOfOtherVersions(directory: string, name: string): Promise<void> {
  const folder = join(directory, toCacheFolderName(name))
  const kind = `${toCacheFolderName(name.slice(0, name.lastIndexOf(' ')))}-`
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (const other of await readdir(directory)) {
      const path = join(directory, other)
      if (other.startsWith(kind) && path !== folder) await rm(path, { recursive: true, force: true })
    }
    for (const file of await readdir(folder)) {
      const path = join(folder, file)
      if (Date.now() - (await stat(path)).mtimeMs > maxCacheEntryAgeDays * msPerDay)
        await rm(path, { force: true })
    }
  } catch {
    // Another process may be sweeping too; the next sweep removes the rest.
  }
}

function computeSha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
