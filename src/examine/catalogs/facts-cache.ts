// Facts of catalog files, kept on disk by the content of the file: a file that was read once, by this version of the
// reader, is never read again. A cache that cannot be read or written is no cache; it never fails a command.
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileFacts } from '../../catalog/facts/catalog.ts'
import { factsVersion } from '../../catalog/facts/facts-version.ts'
import { readFile } from '../../catalog/load/read-file.ts'
import { cacheHome } from './cache-home.ts'

/** Reading a smaller file takes no longer than opening its facts. */
const smallestFile = 16 * 1024
const keptDays = 30
const day = 24 * 60 * 60 * 1000

export interface FactsCache {
  /** The facts of a file with these bytes: kept ones, or read now and kept. */
  factsOf(bytes: Uint8Array): FileFacts
}

/**
 * The cache in a directory, which is made when the first facts are kept. `now` in milliseconds decides which facts
 * are too old to keep.
 */
export function openFactsCache(directory = join(cacheHome(), 'facts'), now = Date.now()): FactsCache {
  const folder = join(directory, `v${factsVersion}`)
  let isSwept = false
  return {
    factsOf(bytes) {
      if (bytes.length < smallestFile) return readFile(bytes)
      const digest = createHash('sha256').update(bytes).digest('hex')
      const path = join(folder, `${digest}.json`)
      const known = readEntry(path, bytes.length)
      if (known !== undefined) return known
      const facts = readFile(bytes)
      if (!isSwept) {
        isSwept = true
        sweep(directory, folder, now)
      }
      writeEntry(path, facts)
      return facts
    },
  }
}

/** An entry is a line with the digest of what follows, then the facts: what was cut short or damaged is not read. */
function readEntry(path: string, bytes: number): FileFacts | undefined {
  try {
    const entry = readFileSync(path, 'utf8')
    const lineEnd = entry.indexOf('\n')
    const json = entry.slice(lineEnd + 1)
    if (digestOf(json) !== entry.slice(0, lineEnd)) return undefined
    const facts = JSON.parse(json) as FileFacts
    return facts.bytes === bytes ? facts : undefined
  } catch {
    return undefined
  }
}

/** Written beside its place and moved there, so that no other process ever sees half of it. */
function writeEntry(path: string, facts: FileFacts): void {
  const draft = `${path}.${randomUUID()}`
  try {
    const json = JSON.stringify(facts)
    writeFileSync(draft, `${digestOf(json)}\n${json}`, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch {
    remove(draft)
  }
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // What cannot be removed was hardly written; the next sweep tries again.
  }
}

/** Makes the folder, and removes the facts of other versions and those that are too old. Once a run, before writing. */
function sweep(directory: string, folder: string, now: number): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(directory)) {
      const path = join(directory, name)
      if (/^v\d+$/.test(name) && path !== folder) rmSync(path, { recursive: true, force: true })
    }
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      if (now - statSync(path).mtimeMs > keptDays * day) rmSync(path, { force: true })
    }
  } catch {
    // Another process may sweep at the same time; what is left lies there until the next time.
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
