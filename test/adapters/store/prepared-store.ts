// A prepared folder of a store. Creating one takes six seconds of processor time, and opening an existing one two. So one is
// created for all tests and later runs, and each test gets a copy.
import { createHash } from 'node:crypto'
import {
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../../src/ports/store.ts'
import { lockDatabaseFolder } from '../../../src/adapters/store/folder-lock.ts'
import { openStore, type StoreOptions } from '../../../src/adapters/store/store.ts'
import { realTimeClock } from './sample-records.ts'

const projectRoot = join(import.meta.dirname, '..', '..', '..')
const storeCacheDirectory = join(projectRoot, 'node_modules', '.cache', 'catalog-bot-store')
/** Milliseconds to wait for another process that creates it, on a busy machine. */
const storeBuildTimeoutMs = 120_000
const weekMs = 7 * 24 * 3600_000

/** Changes with the code that creates the tables, and with the two packages that it uses. */
function computePreparedStoreCacheKey(): string {
  const key = createHash('sha256')
  for (const file of [
    'src/adapters/store/migrations.ts',
    'src/adapters/store/jobs.ts',
    'node_modules/@electric-sql/pglite/package.json',
    'node_modules/pg-boss/package.json',
  ])
    key.update(readFileSync(join(projectRoot, file)))
  return `made-${key.digest('hex').slice(0, 16)}`
}

async function buildPreparedStore(): Promise<string> {
  const name = computePreparedStoreCacheKey()
  const made = join(storeCacheDirectory, name)
  if (existsSync(made)) return made
  mkdirSync(storeCacheDirectory, { recursive: true })
  const unlock = await lockDatabaseFolder(storeCacheDirectory, storeBuildTimeoutMs)
  try {
    if (existsSync(made)) return made
    // Only old ones, because another run may be copying a recent one.
    for (const entry of readdirSync(storeCacheDirectory)) {
      const isOld = Date.now() - statSync(join(storeCacheDirectory, entry)).mtimeMs > weekMs
      if (isOld && /^(?:made|draft)-/.test(entry))
        rmSync(join(storeCacheDirectory, entry), { recursive: true, force: true })
    }
    const draft = mkdtempSync(join(storeCacheDirectory, 'draft-'))
    await (await openStore({ dataDirectory: draft, clock: realTimeClock })).close()
    renameSync(draft, made)
    return made
  } finally {
    unlock()
  }
}

/** Creates the folder with an empty store that has its tables. */
export async function copyPreparedStore(dataDirectory: string): Promise<void> {
  cpSync(await buildPreparedStore(), dataDirectory, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

/** An empty store in a folder that is removed when the store is closed. */
export async function openPreparedStore(
  options: Omit<StoreOptions, 'databaseUrl' | 'dataDirectory'>,
): Promise<Store> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'store-'))
  const remove = () => rmSync(dataDirectory, { recursive: true, force: true })
  try {
    await copyPreparedStore(dataDirectory)
    const store = await openStore({ ...options, dataDirectory })
    return { ...store, close: () => store.close().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}
