// The App's end of the channel to the embedded database's process. It does not restart the process.
import { fork, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import { resolve as absolute } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type {
  SerializedError,
  EmbeddedDatabaseCommand,
  EmbeddedDatabaseResponse,
  EmbeddedDatabaseRequest,
} from './embedded-process.ts'
import { findWorkerScript } from '../workers/start-worker.ts'
import { toStoreError, StoreError } from './database.ts'

/** Milliseconds for an orderly close; then the process is killed, and the next start recovers. */
const databaseCloseTimeoutMs = 10_000
/** Limit in characters for quoting the process's last output. */
const maxQuotedProcessOutputLength = 2000

const inheritedEnvVariableNames = ['PATH', 'LD_LIBRARY_PATH', 'TZ']

/**
 * Starts the process and opens the database. Rejects with StoreError `in-use` if another process still has the folder
 * after `timeoutMs` milliseconds. `said` receives each line of its standard error.
 */
export async function connectEmbeddedDatabase(
  directory: string | undefined,
  timeoutMs: number,
  onOutput: (line: string) => void,
): Promise<EmbeddedConnection> {
  const child = startDatabaseProcess()
  const connection = new EmbeddedConnection(child, onOutput)
  try {
    await connection.send({
      kind: 'open',
      directory: directory === undefined ? undefined : absolute(directory),
      timeoutMs,
    })
    return connection
  } catch (error) {
    // Without this, a command with nothing else to do would exit silently before the process ends.
    keepAliveUntilChildExits(child)
    child.kill('SIGKILL')
    await connection.ended
    throw toStoreError(error)
  }
}

/** Keeps this process alive until `child` has ended and its output has been read. */
function keepAliveUntilChildExits(child: ChildProcess): void {
  child.ref()
  if (child.stderr instanceof Socket) child.stderr.ref()
}

function startDatabaseProcess(): ChildProcess {
  return fork(fileURLToPath(findWorkerScript('embedded-process', import.meta.url)), [], {
    execPath: process.execPath,
    // Does not pass this process's options: --inspect would claim the same port again. V8's optimizing compiler would
    // take 0.7 s and 500 MB for Postgres, whose statements it speeds up by less than a fifth.
    execArgv: ['--no-warnings', '--liftoff-only'],
    // Passes only what Node needs, because the App's environment holds credentials.
    env: Object.fromEntries(inheritedEnvVariableNames.map((name) => [name, process.env[name]])),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

export class EmbeddedConnection {
  readonly #child: ChildProcess
  readonly #pending = new Map<
    number,
    { resolve(rows: readonly object[]): void; reject(error: unknown): void }
  >()
  #ids = 0
  #ending: string | undefined
  #output = ''
  /** Resolves with a description when the process has ended. Never rejects. */
  readonly ended: Promise<string>

  constructor(child: ChildProcess, onOutput: (line: string) => void) {
    this.#child = child
    // A pending answer keeps this process alive, an idle database does not.
    child.unref()
    if (child.stderr) {
      const lines = createInterface({ input: child.stderr })
      lines.on('line', (line) => {
        this.#output = `${this.#output}${line}\n`.slice(-maxQuotedProcessOutputLength)
        onOutput(line)
      })
      if (child.stderr instanceof Socket) child.stderr.unref()
    }
    child.on('message', (reply: EmbeddedDatabaseResponse) => {
      const waiting = this.#pending.get(reply.id)
      this.#pending.delete(reply.id)
      this.#unrefIfIdle()
      if ('rows' in reply) waiting?.resolve(reply.rows)
      else waiting?.reject(deserializeDatabaseError(reply.fault))
    })
    this.#unrefIfIdle()
    this.ended = new Promise<string>((resolve) => {
      const end = (how: string) => {
        if (this.#ending !== undefined) return
        this.#ending = `the database process ${how}`
        for (const waiting of this.#pending.values())
          waiting.reject(new StoreError('unreachable', this.#ending))
        this.#pending.clear()
        resolve(this.#ending)
      }
      child.once('error', (error) => end(`could not be started: ${error.message}`))
      // Not 'exit', because the last answers and output arrive before 'close'.
      child.once('close', (code, signal) =>
        end(`exited with ${signal ?? `code ${code ?? 'none'}`}${this.#output && `: ${this.#output.trim()}`}`),
      )
    })
  }

  /** Rejects with an error that has the driver's fields (`code`, `detail`), or with a StoreError. */
  readonly send = (order: EmbeddedDatabaseCommand): Promise<readonly object[]> =>
    new Promise<readonly object[]>((resolve, reject) => {
      if (this.#ending !== undefined || !this.#child.connected) {
        reject(new StoreError('unreachable', this.#ending ?? 'the database process is shutting down'))
        return
      }
      const id = ++this.#ids
      this.#pending.set(id, { resolve, reject })
      this.#child.channel?.ref()
      try {
        this.#child.send({ id, ...order } satisfies EmbeddedDatabaseRequest, (error) => {
          // The exit handler rejects all other pending orders.
          if (error && this.#pending.delete(id)) {
            this.#unrefIfIdle()
            reject(
              new StoreError(
                'unreachable',
                `the query could not be sent to the database: ${error.message}`,
                error,
              ),
            )
          }
        })
      } catch (error) {
        // The value cannot be serialized.
        this.#pending.delete(id)
        this.#unrefIfIdle()
        reject(
          new StoreError('failed', `the query could not be sent to the database: ${String(error)}`, error),
        )
      }
    })

  /** Resolves when the process has ended. */
  readonly close = async (): Promise<void> => {
    keepAliveUntilChildExits(this.#child)
    const late = setTimeout(() => this.#child.kill('SIGKILL'), databaseCloseTimeoutMs)
    await this.send({ kind: 'close' }).catch(() => this.#child.kill('SIGKILL'))
    await this.ended
    clearTimeout(late)
  }

  #unrefIfIdle() {
    if (this.#pending.size === 0) this.#child.channel?.unref()
  }
}

function deserializeDatabaseError({ message, storeCode, fields }: SerializedError): Error {
  return storeCode ? new StoreError(storeCode, message) : Object.assign(new Error(message), fields)
}
