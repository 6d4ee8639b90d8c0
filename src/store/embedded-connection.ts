// The App's end of the channel to the embedded database's process: starts it, sends orders, matches the answers, and
// tells when it is gone. It never starts a second one by itself.
import { fork, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { extname, resolve as absolute } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Fault, Order, Reply, Request } from './embedded-process.ts'
import { asStoreError, StoreError } from './store-error.ts'

/** Milliseconds for closing in order; after that the process is killed, which its next start mends. */
const closingTime = 10_000
/** Of what the process says about its end, this many characters are told on. */
const mostWords = 2000

const passedOn = ['PATH', 'LD_LIBRARY_PATH', 'TZ']

export interface Connection {
  /** The rows. Rejects with an error that has the driver's fields (`code`, `detail`), or with a StoreError. */
  ask(order: Order): Promise<readonly object[]>
  /** Resolves when the process has ended, for whatever reason, with how. Never rejects. */
  readonly gone: Promise<string>
  /** Closes in order and resolves when the process has ended. */
  close(): Promise<void>
}

/**
 * Starts the process and opens the database. Rejects with a StoreError: `in-use` when another process still has the
 * folder after `patience` milliseconds. `said` hears each line of its standard error.
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
    // Its end has to be waited for also where nothing else is left to do: a command would end here without a word.
    keepAlive(child)
    child.kill('SIGKILL')
    await connection.gone
    throw asStoreError(error)
  }
}

/** Until `child` has ended and what it wrote has been read, this process lives. */
function keepAlive(child: ChildProcess): void {
  child.ref()
  if (child.stderr instanceof Socket) child.stderr.ref()
}

/** The same extension as this file's: the sources and a compiled copy both find theirs. */
function start(): ChildProcess {
  const entry = new URL(`./embedded-process${extname(import.meta.url)}`, import.meta.url)
  return fork(fileURLToPath(entry), [], {
    execPath: process.execPath,
    // Not those of this process: --inspect would ask for the same port again.
    execArgv: ['--no-warnings'],
    // The App's credentials are in its environment; the database needs no more than what Node itself may need.
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

  // Waiting for an answer keeps this process alive, an idle database does not.
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
    // Not 'exit': the last answers and words come before 'close'.
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
          // Its end says the same to all that wait.
          if (error && pending.delete(id)) {
            settle()
            reject(new StoreError('unreachable', `the database cannot be asked: ${error.message}`, error))
          }
        })
      } catch (error) {
        // A value that cannot be sent.
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
