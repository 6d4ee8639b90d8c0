// Caches facts about files on disk, by content and version, and verdicts on directories. Cache errors never fail a command.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, isAbsolute } from 'node:path'
import { type ParsedCatalogFile, parsedCatalogFileVersion } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { homedir } from 'node:os'
import { crc32 } from 'node:zlib'
import type { Cache, CacheNamespace } from '../ports/cache.ts'
import type { CatalogDirectoryFile } from './catalog-directory.ts'

/** Bytes. Reading a smaller file is as fast as opening its cached facts. */
const minCachedFileBytes = 16 * 1024
const maxCacheEntryAgeDays = 30
const msPerDay = 24 * 60 * 60 * 1000

export interface ParsedCatalogFileCache {
  factsOf(bytes: Uint8Array): ParsedCatalogFile
}

/** Creates the directory on the first write. `now` in milliseconds decides which facts have expired. */
export function createParsedCatalogFileCache(
  directory = join(getCacheDirectory(), 'facts'),
  now = Date.now(),
): ParsedCatalogFileCache {
  const folder = new CacheFolder(directory, `v${parsedCatalogFileVersion}`, /^v\d+$/, now)
  return {
    factsOf(bytes) {
      if (bytes.length < minCachedFileBytes) return parseCatalogFile(bytes)
      const digest = computeSha256Hex(bytes)
      const known = folder.read(digest) as ParsedCatalogFile | undefined
      if (known?.bytes === bytes.length) return known
      const facts = parseCatalogFile(bytes)
      folder.write(digest, facts)
      return facts
    },
  }
}

/**
 * Finds the verdict of an earlier run of the same build on the same inputs and files. Like Git's index, compares files by their
 * stats. Only a verdict on the returned `files` may be saved, because their stamps belong to what was read.
 */
export function openVerdictCache<Verdict>(
  listed: readonly CatalogDirectoryFile[],
  { build, inputs }: { readonly build: string; readonly inputs: unknown },
  directory = join(getCacheDirectory(), 'verdicts'),
) {
  const folder = new CacheFolder(directory, build, /^/)
  const key = computeChecksum(JSON.stringify(inputs))
  const stamps = new Map<string, string>()
  const addStamp = (path: string, isKnown: boolean) => (stamp: string) => {
    // A file that changes between two reads has no stamp.
    stamps.set(path, (stamps.get(path) ?? stamp) === stamp ? stamp : '')
    return isKnown
  }
  /** Undefined if a file has no stamp. */
  const formatState = () =>
    listed.every(({ path }) => stamps.get(path))
      ? JSON.stringify([inputs, listed.map(({ path, leadsOut }) => [path, leadsOut, stamps.get(path)])])
      : undefined
  const entry = folder.read(key) as { readonly state: string; readonly verdict: Verdict } | undefined
  if (entry !== undefined) for (const file of listed) file.read(undefined, addStamp(file.path, true))
  return {
    known: entry?.state === formatState() ? entry?.verdict : undefined,
    files: listed.map((file): CatalogDirectoryFile => ({
      ...file,
      read: (memory) => file.read(memory, addStamp(file.path, false)),
    })),
    save(verdict: Verdict): void {
      const state = formatState()
      if (state !== undefined) folder.write(key, { state, verdict })
    },
  }
}

/**
 * Caches facts of files on disk by blob id, for processes without a store. Cache errors count as missing entries. Keys
 * must be object ids or digests. The first write of a version removes the entries of others.
 */
export function createContentAddressedCache(directory: string): Cache {
  const folders = new Map<string, CacheFolder>()
  const openFolder = ({ name }: CacheNamespace<unknown>): CacheFolder => {
    const kind = toCacheFolderName(name.slice(0, name.lastIndexOf(' ')))
    const folder =
      folders.get(name) ?? new CacheFolder(directory, toCacheFolderName(name), new RegExp(`^${kind}-`))
    folders.set(name, folder)
    return folder
  }
  return {
    async getCached<Value>(space: CacheNamespace<Value>, keys: readonly string[]) {
      const found = new Map<string, Value>()
      for (const key of keys) {
        const value = space.read(openFolder(space).read(key))
        if (value !== undefined) found.set(key, value)
      }
      return found
    },
    async putCached(space, values) {
      for (const [key, value] of values)
        if (/^[0-9a-f]{40,64}$/.test(key)) openFolder(space).write(key, value)
    },
  }
}

const toCacheFolderName = (name: string): string => name.replaceAll(/[^a-z0-9]/gi, '-')

/** The entries of one version. */
class CacheFolder {
  readonly #directory: string
  readonly #path: string
  readonly #versions: RegExp
  readonly #now: number
  #isSwept = false

  /** `versions`: the folders in `directory` that hold the same kind of entries. */
  constructor(directory: string, name: string, versions: RegExp, now = Date.now()) {
    this.#directory = directory
    this.#path = join(directory, name)
    this.#versions = versions
    this.#now = now
  }

  /** An entry is a line with a checksum, then the value, so that a damaged entry is detected. */
  read(key: string): unknown {
    try {
      const entry = readFileSync(join(this.#path, `${key}.json`), 'utf8')
      const lineEnd = entry.indexOf('\n')
      const json = entry.slice(lineEnd + 1)
      return computeChecksum(json) === entry.slice(0, lineEnd) ? JSON.parse(json) : undefined
    } catch {
      return undefined
    }
  }

  /** Renames a finished file into place, so that no other process reads half of it. */
  write(key: string, value: unknown): void {
    if (!this.#isSwept) this.#removeExpiredEntries()
    const path = join(this.#path, `${key}.json`)
    const draft = `${path}.${crypto.randomUUID()}`
    try {
      const json = JSON.stringify(value)
      writeFileSync(draft, `${computeChecksum(json)}\n${json}`, { mode: 0o600, flag: 'wx' })
      renameSync(draft, path)
    } catch {
      removeFileIgnoringErrors(draft)
    }
  }

  /** Creates the folder, and removes expired entries and those of other versions. Runs once, before the first write. */
  #removeExpiredEntries(): void {
    this.#isSwept = true
    try {
      createDirectory(this.#path)
      for (const name of readdirSync(this.#directory)) {
        const path = join(this.#directory, name)
        if (this.#versions.test(name) && path !== this.#path) rmSync(path, { recursive: true, force: true })
      }
      for (const name of readdirSync(this.#path)) {
        const path = join(this.#path, name)
        if (this.#now - statSync(path).mtimeMs > maxCacheEntryAgeDays * msPerDay)
          rmSync(path, { force: true })
      }
    } catch {
      // Another process may be sweeping too; the next sweep removes the rest.
    }
  }
}

/** Unlike Node.js, also fails where no directory can be created, such as below /proc. */
function createDirectory(path: string): void {
  if (existsSync(path)) return
  createDirectory(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

function removeFileIgnoringErrors(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The next sweep tries again.
  }
}

const computeChecksum = (text: string): string => crc32(text).toString(16)

/** Loads node:crypto on use, because that takes a tenth of a short run. */
function computeSha256Hex(content: Uint8Array): string {
  return process.getBuiltinModule('node:crypto').hash('sha256', content)
}

/** `CATALOG_BOT_CACHE`, or `catalog-bot` in the user's cache home. Creates nothing. */
export function getCacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment['CATALOG_BOT_CACHE']
  if (own) return own
  const shared = environment['XDG_CACHE_HOME']
  // The XDG base directory specification says to ignore relative paths.
  return join(shared && isAbsolute(shared) ? shared : join(homedir(), '.cache'), 'catalog-bot')
}
