// Keeps a connection to the embedded database's process: when the process dies, another one is started, for as long as it
// takes. What was asked of the dead one is never asked again: nobody knows whether it happened.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './embedded-connection.ts'
import { asStoreError, StoreError } from './store-error.ts'

/** Milliseconds before the first new start; each one that follows soon after waits twice as long. */
const shortestPause = 100
const longestPause = 30_000
/** A process that lived for so many milliseconds did not die of being started. */
const longLife = 60_000

export interface Kept {
  /** The connection; while a process starts, waits for that start. Rejects with a StoreError when it fails. */
  current(): Promise<Connection>
  close(): Promise<void>
}

/**
 * Rejects as `connect` does when the first start fails. `lasts`: the data outlive the process; otherwise its end is the
 * end, and everything asked later rejects. `problem` hears of every unexpected end and of new starts that fail.
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
