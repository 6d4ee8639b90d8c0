// The lock of the embedded database's folder. It is released when its process ends, even if the process is killed.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from './database.ts'

/** SQLITE_BUSY: another process has the lock. */
const sqliteBusyErrorCode = 5

/** Milliseconds between two attempts. */
const lockRetryDelayMs = 50

/**
 * Waits up to `timeoutMs` milliseconds for the folder and resolves with a function that releases it. Rejects with
 * StoreError `in-use` if another process still has it, `failed` if it cannot be locked.
 */
export async function lockDatabaseFolder(directory: string, timeoutMs: number): Promise<() => void> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const unlock = tryLockDatabaseFolder(directory)
    if (unlock) return unlock
    if (performance.now() >= end) throw new StoreError('in-use', `another process is using ${directory}`)
    await sleep(lockRetryDelayMs)
  }
}

function tryLockDatabaseFolder(directory: string): (() => void) | undefined {
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(directory, 'lock.sqlite'), { timeout: 0 })
    file.exec('BEGIN EXCLUSIVE')
    const held = file
    return () => held.close()
  } catch (error) {
    file?.close()
    if (isSqliteBusyError(error)) return undefined
    const message = error instanceof Error ? error.message : String(error)
    throw new StoreError('failed', `the data folder cannot be locked: ${message}`, error)
  }
}

/** Does not check the class, because under a test runner Node's errors come from another realm. */
function isSqliteBusyError(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === sqliteBusyErrorCode
  )
}
