// A store's folder that is made already. To make one costs six seconds of the processor, to open one that is there two: so
// one is made, once for all tests and for the next runs too, and every test that wants a store gets a copy.
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
import type { Store } from '../../src/ports/store.ts'
import { lockFolder } from '../../src/store/folder-lock.ts'
import { openStore, type StoreOptions } from '../../src/store/store.ts'
import { clock } from './sample-records.ts'

const root = join(import.meta.dirname, '..', '..')
const kept = join(root, 'node_modules', '.cache', 'catalog-bot-store')
/** Milliseconds to wait for a process that makes it: on a busy machine that takes a while. */
const patience = 120_000
const week = 7 * 24 * 3600_000

/** What a made store depends on: the code that makes its tables, and the two packages that it is made with. */
function keyOfMade(): string {
  const key = createHash('sha256')
  for (const file of [
    'src/store/migrations.ts',
    'src/store/jobs.ts',
    'node_modules/@electric-sql/pglite/package.json',
    'node_modules/pg-boss/package.json',
  ])
    key.update(readFileSync(join(root, file)))
  return `made-${key.digest('hex').slice(0, 16)}`
}

async function madeStore(): Promise<string> {
  const name = keyOfMade()
  const made = join(kept, name)
  if (existsSync(made)) return made
  mkdirSync(kept, { recursive: true })
  const unlock = await lockFolder(kept, patience)
  try {
    if (existsSync(made)) return made
    // Not at once: another run, of other code, may be copying it.
    for (const entry of readdirSync(kept)) {
      const isOld = Date.now() - statSync(join(kept, entry)).mtimeMs > week
      if (isOld && /^(?:made|draft)-/.test(entry)) rmSync(join(kept, entry), { recursive: true, force: true })
    }
    const draft = mkdtempSync(join(kept, 'draft-'))
    await (await openStore({ dataDirectory: draft, clock })).close()
    renameSync(draft, made)
    return made
  } finally {
    unlock()
  }
}

/** Puts an empty store, whose tables are made, into the folder, which is made as well. */
export async function placeMadeStore(dataDirectory: string): Promise<void> {
  cpSync(await madeStore(), dataDirectory, { recursive: true, mode: constants.COPYFILE_FICLONE })
}

/** An empty store in a folder that is gone when the store is closed. */
export async function openMadeStore(
  options: Omit<StoreOptions, 'databaseUrl' | 'dataDirectory'>,
): Promise<Store> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'store-'))
  const remove = () => rmSync(dataDirectory, { recursive: true, force: true })
  try {
    await placeMadeStore(dataDirectory)
    const store = await openStore({ ...options, dataDirectory })
    return { ...store, close: () => store.close().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}
