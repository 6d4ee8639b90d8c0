// Restarts the embedded database's process when it dies, retrying without limit. Never repeats the dead process's
// requests, because they may have taken effect.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EmbeddedConnection } from './embedded-connection.ts'
import { toStoreError, StoreError } from './store-error.ts'

/** Milliseconds before the first restart; the pause doubles after each quick failure. */
const minRestartDelayMs = 100
const maxRestartDelayMs = 30_000
/** Milliseconds after which a process counts as started successfully. */
const minStableUptimeMs = 60_000

export interface SupervisedConnection {
  /** Waits for a start in progress. Rejects with a StoreError if it fails. */
  current(): Promise<EmbeddedConnection>
  close(): Promise<void>
}

/**
 * Rejects like `connect` if the first start fails. `lasts`: the data outlive the process; otherwise all requests after
 * its end reject. `problem` receives unexpected ends and failed restarts.
 */
export async function superviseConnection(
  connect: () => Promise<EmbeddedConnection>,
  lasts: boolean,
  problem: (error: unknown) => void,
): Promise<SupervisedConnection> {
  const closing = new AbortController()
  let pause = minRestartDelayMs
  let current: Promise<EmbeddedConnection>

  const watchAttempt = (attempt: Promise<EmbeddedConnection>): void => {
    current = attempt
    attempt.then(
      async (connection) => {
        const began = performance.now()
        const how = await connection.ended
        if (closing.signal.aborted) return
        if (performance.now() - began > minStableUptimeMs) pause = minRestartDelayMs
        const lost = new StoreError('unreachable', how)
        problem(lost)
        if (lasts) watchAttempt(reconnect())
        else watchAttempt(Promise.reject(lost))
      },
      (error: unknown) => {
        if (closing.signal.aborted || !lasts) return
        problem(toStoreError(error))
        watchAttempt(reconnect())
      },
    )
  }
  const reconnect = async (): Promise<EmbeddedConnection> => {
    const wait = pause
    pause = Math.min(2 * pause, maxRestartDelayMs)
    try {
      await sleep(wait, undefined, { signal: closing.signal, ref: false })
    } catch {
      throw new StoreError('closed', 'the store is closed')
    }
    return connect()
  }

  const first = await connect()
  current = Promise.resolve(first)
  watchAttempt(current)
  return {
    current: () => current,
    close: async () => {
      closing.abort()
      const connection = await current.catch(() => undefined)
      await connection?.close()
    },
  }
}
