// Allows one process per data folder, because two embedded databases in one folder would destroy it. SQLite provides an
// operating system lock that ends with its process, so no lock is ever stale. Removing stale locks would be a race.
// This covers one machine; a network share needs a Postgres server anyway.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from './store-error.ts'

/** SQLITE_BUSY: another process has the lock. */
const sqliteBusyErrorCode = 5
/** Milliseconds between two attempts. */
const retryDelayMs = 50

/**
 * Waits up to `patience` milliseconds for the folder and resolves with a function that releases it. Rejects with
 * StoreError `in-use` if another process still has it, `failed` if it cannot be locked.
 */
export async function lockFolder(directory: string, timeoutMs: number): Promise<() => void> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const unlock = tryLock(directory)
    if (unlock) return unlock
    if (performance.now() >= end) throw new StoreError('in-use', `another process is using ${directory}`)
    await sleep(retryDelayMs)
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
    const message = error instanceof Error ? error.message : String(error)
    throw new StoreError('failed', `the data folder cannot be locked: ${message}`, error)
  }
}

/** Does not check the class, because under a test runner Node's errors come from another realm. */
function isBusy(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === sqliteBusyErrorCode
  )
}
