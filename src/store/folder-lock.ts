// One process per data folder: two embedded databases in one folder would destroy it. The lock is a file lock of the
// system's, taken through SQLite: the system gives it up with its process, however that ends. So nothing is ever stale
// and nothing has to be removed: of two that remove a stale lock at the same moment, both may come to believe it is
// theirs. It guards one machine; a network share needs a real Postgres anyway.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from './store-error.ts'

/** SQLite's code for "somebody else has it". */
const busy = 5
/** Milliseconds between two attempts. */
const pause = 50

/**
 * Takes the folder, waiting up to `patience` milliseconds for who has it, and resolves with the function that gives it
 * up. Rejects with StoreError `in-use` when another process still has it then, `failed` when it cannot be locked.
 */
export async function lockFolder(directory: string, patience: number): Promise<() => void> {
  const end = performance.now() + patience
  for (;;) {
    const unlock = tryLock(directory)
    if (unlock) return unlock
    if (performance.now() >= end) throw new StoreError('in-use', `another process uses ${directory}`)
    await sleep(pause)
  }
}

function tryLock(directory: string): (() => void) | undefined {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: 0 })
    file.exec('BEGIN EXCLUSIVE')
    const held = file
    return () => held.close()
  } catch (error) {
    file?.close()
    if (isBusy(error)) return undefined
    const words = error instanceof Error ? error.message : String(error)
    throw new StoreError('failed', `the data folder cannot be locked: ${words}`, error)
  }
}

/** Not by its class: what Node throws under a test runner is an error of another realm. */
function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === busy
}
