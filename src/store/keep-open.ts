// Restarts the embedded database's process when it dies, retrying without limit. Never repeats the dead process's
// requests, because they may have taken effect.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './embedded-connection.ts'
import { asStoreError, StoreError } from './store-error.ts'

/** Milliseconds before the first restart; the pause doubles after each quick failure. */
const shortestPause = 100
const longestPause = 30_000
/** Milliseconds after which a process counts as started successfully. */
const longLife = 60_000

export interface Kept {
  /** Waits for a start in progress. Rejects with a StoreError if it fails. */
  current(): Promise<Connection>
  close(): Promise<void>
}

/**
 * Rejects like `connect` if the first start fails. `lasts`: the data outlive the process; otherwise all requests after
 * its end reject. `problem` receives unexpected ends and failed restarts.
 */
export async function keepOpen(
  connect: () => Promise<Connection>,
  lasts: boolean,
  problem: (error: unknown) => void,
): Promise<Kept> {
  const closing = new AbortController()
  let pause = shortestPause
  let current: Promise<Connection>

  const follow = (attempt: Promise<Connection>): void => {
    current = attempt
    attempt.then(
      async (connection) => {
        const began = performance.now()
        const how = await connection.gone
        if (closing.signal.aborted) return
        if (performance.now() - began > longLife) pause = shortestPause
        const lost = new StoreError('unreachable', how)
        problem(lost)
        if (lasts) follow(again())
        else follow(Promise.reject(lost))
      },
      (error: unknown) => {
        if (closing.signal.aborted || !lasts) return
        problem(asStoreError(error))
        follow(again())
      },
    )
  }
  const again = async (): Promise<Connection> => {
    const wait = pause
    pause = Math.min(2 * pause, longestPause)
    try {
      await sleep(wait, undefined, { signal: closing.signal, ref: false })
    } catch {
      throw new StoreError('closed', 'the store is closed')
    }
    return connect()
  }

  const first = await connect()
  current = Promise.resolve(first)
  follow(current)
  return {
    current: () => current,
    close: async () => {
      closing.abort()
      const connection = await current.catch(() => undefined)
      await connection?.close()
    },
  }
}
