// The App's end of the channel to the embedded database's process. It does not restart the process.
import { fork, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { extname, resolve as absolute } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Fault, Order, Reply, Request } from './embedded-process.ts'
import { asStoreError, StoreError } from './store-error.ts'

/** Milliseconds for an orderly close; then the process is killed, and the next start recovers. */
const closingTime = 10_000
/** Limit in characters for quoting the process's last output. */
const mostWords = 2000

const passedOn = ['PATH', 'LD_LIBRARY_PATH', 'TZ']

export interface Connection {
  /** Rejects with an error that has the driver's fields (`code`, `detail`), or with a StoreError. */
  ask(order: Order): Promise<readonly object[]>
  /** Resolves with a description when the process has ended. Never rejects. */
  readonly gone: Promise<string>
  /** Resolves when the process has ended. */
  close(): Promise<void>
}

/**
 * Starts the process and opens the database. Rejects with StoreError `in-use` if another process still has the folder
 * after `patience` milliseconds. `said` receives each line of its standard error.
 */
export async function connectEmbedded(
  directory: string | undefined,
  patience: number,
  said: (line: string) => void,
): Promise<Connection> {
  const child = start()
  const connection = over(child, said)
  try {
    await connection.ask({
      kind: 'open',
      directory: directory === undefined ? undefined : absolute(directory),
      patience,
    })
    return connection
  } catch (error) {
    // Without this, a command with nothing else to do would exit silently before the process ends.
    keepAlive(child)
    child.kill('SIGKILL')
    await connection.gone
    throw asStoreError(error)
  }
}

/** Keeps this process alive until `child` has ended and its output has been read. */
function keepAlive(child: ChildProcess): void {
  child.ref()
  if (child.stderr instanceof Socket) child.stderr.ref()
}

/** Uses this file's extension, so that sources and compiled copies both find theirs. */
function start(): ChildProcess {
  const entry = new URL(`./embedded-process${extname(import.meta.url)}`, import.meta.url)
  return fork(fileURLToPath(entry), [], {
    execPath: process.execPath,
    // Does not pass this process's options: --inspect would claim the same port again.
    execArgv: ['--no-warnings'],
    // Passes only what Node needs, because the App's environment holds credentials.
    env: Object.fromEntries(passedOn.map((name) => [name, process.env[name]])),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

function over(child: ChildProcess, said: (line: string) => void): Connection {
  const pending = new Map<number, { resolve(rows: readonly object[]): void; reject(error: unknown): void }>()
  let ids = 0
  let ending: string | undefined
  let words = ''

  // A pending answer keeps this process alive, an idle database does not.
  child.unref()
  if (child.stderr) {
    const lines = createInterface({ input: child.stderr })
    lines.on('line', (line) => {
      words = `${words}${line}\n`.slice(-mostWords)
      said(line)
    })
    if (child.stderr instanceof Socket) child.stderr.unref()
  }
  const settle = () => {
    if (pending.size === 0) child.channel?.unref()
  }
  child.on('message', (reply: Reply) => {
    const waiting = pending.get(reply.id)
    pending.delete(reply.id)
    settle()
    if ('rows' in reply) waiting?.resolve(reply.rows)
    else waiting?.reject(asError(reply.fault))
  })
  settle()

  const gone = new Promise<string>((resolve) => {
    const end = (how: string) => {
      if (ending !== undefined) return
      ending = `the database's process ${how}`
      for (const waiting of pending.values()) waiting.reject(new StoreError('unreachable', ending))
      pending.clear()
      resolve(ending)
    }
    child.once('error', (error) => end(`could not be started: ${error.message}`))
    // Not 'exit', because the last answers and output arrive before 'close'.
    child.once('close', (code, signal) =>
      end(`ended with ${signal ?? `code ${code ?? 'none'}`}${words && `: ${words.trim()}`}`),
    )
  })

  const ask = (order: Order) =>
    new Promise<readonly object[]>((resolve, reject) => {
      if (ending !== undefined || !child.connected) {
        reject(new StoreError('unreachable', ending ?? "the database's process is ending"))
        return
      }
      const id = ++ids
      pending.set(id, { resolve, reject })
      child.channel?.ref()
      try {
        child.send({ id, ...order } satisfies Request, (error) => {
          // The exit handler rejects all other pending orders.
          if (error && pending.delete(id)) {
            settle()
            reject(new StoreError('unreachable', `the database cannot be asked: ${error.message}`, error))
          }
        })
      } catch (error) {
        // The value cannot be serialized.
        pending.delete(id)
        settle()
        reject(new StoreError('failed', `the statement cannot be sent: ${String(error)}`, error))
      }
    })

  return {
    ask,
    gone,
    close: async () => {
      keepAlive(child)
      const late = setTimeout(() => child.kill('SIGKILL'), closingTime)
      await ask({ kind: 'close' }).catch(() => child.kill('SIGKILL'))
      await gone
      clearTimeout(late)
    },
  }
}

function asError({ message, storeCode, fields }: Fault): Error {
  return storeCode ? new StoreError(storeCode, message) : Object.assign(new Error(message), fields)
}
