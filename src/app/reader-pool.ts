// Reads catalog files away from the thread that answers deliveries: a 20 MB file must not make GitHub wait. In processes
// of their own, because V8 gives up the whole process when a thread asks for much memory at once that it may not have.
import { fork, type ChildProcess } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FileFacts } from '../catalog/catalog.ts'
import { readFile } from '../catalog/read-file.ts'

export interface ReaderPool {
  /**
   * What the file's bytes say; undefined for a file that takes more time or memory than any file may, alone and at the
   * second try. Rejects only when a reader died of something else, twice.
   */
  read(bytes: Uint8Array): Promise<FileFacts | undefined>
  close(): Promise<void>
}

export interface ReaderLimits {
  /** Milliseconds that one file may take. The largest that GitHub stores (100 MB) take some three seconds. */
  readonly time: number
  /** Megabytes of heap that a reader may use. */
  readonly memory: number
}

const defaultLimits: ReaderLimits = { time: 60_000, memory: 2048 }

/** Smaller files cost less here than the way to a reader and back. */
const smallFile = 32 * 1024

/** A machine that was busy with something else deserves a second try. */
const mostTries = 2

interface Seat {
  readonly reader: ChildProcess
  readonly waiting: {
    readonly bytes: Uint8Array
    readonly tries: number
    resolve(facts: FileFacts | undefined): void
    reject(error: Error): void
  }[]
  /** Set while a file is being read: the reader is stopped when it runs out. */
  clock: NodeJS.Timeout | undefined
}

export function openReaderPool(
  size = Math.max(1, availableParallelism() - 1),
  limits = defaultLimits,
): ReaderPool {
  const seats: Seat[] = []
  let closed = false

  function seat(): Seat {
    const reader = startReader(limits.memory)
    const taken: Seat = { reader, waiting: [], clock: undefined }
    reader.on('message', (facts) => {
      taken.waiting.shift()?.resolve(facts as FileFacts)
      if (taken.waiting.length === 0) letRest(reader)
      startClock(taken)
    })
    reader.on('error', (error) => replace(taken, error, false))
    // V8 aborts where its heap is full.
    reader.on('exit', (_code, signal) =>
      replace(taken, new Error(`a reader stopped: ${signal}`), signal === 'SIGABRT'),
    )
    return taken
  }

  /** The first that waits is being read. */
  function startClock(busy: Seat): void {
    clearTimeout(busy.clock)
    busy.clock =
      busy.waiting.length === 0
        ? undefined
        : setTimeout(() => {
            busy.reader.kill('SIGKILL')
            replace(busy, new Error('a reader took too long'), true)
          }, limits.time).unref()
  }

  function replace(dead: Seat, error: unknown, isTooHeavy: boolean): void {
    const index = seats.indexOf(dead)
    if (index < 0) return
    seats.splice(index, 1)
    clearTimeout(dead.clock)
    const cause = error instanceof Error ? error : new Error(String(error))
    for (const [at, job] of dead.waiting.entries()) {
      // Those behind it waited and did nothing.
      const tries = at === 0 ? job.tries + 1 : job.tries
      if (!closed && tries < mostTries) enqueue({ ...job, tries })
      else if (!closed && isTooHeavy) job.resolve(undefined)
      else job.reject(new Error('a catalog file could not be read', { cause }))
    }
  }

  function enqueue(job: Seat['waiting'][number]): void {
    let best =
      seats.length < size ? undefined : seats.reduce((a, b) => (a.waiting.length <= b.waiting.length ? a : b))
    if (best === undefined) {
      best = seat()
      seats.push(best)
    }
    best.waiting.push(job)
    best.reader.ref()
    best.reader.channel?.ref()
    best.reader.send(job.bytes)
    if (best.waiting.length === 1) startClock(best)
  }

  return {
    read: (bytes) =>
      bytes.length <= smallFile
        ? Promise.resolve(readFile(bytes))
        : new Promise((resolve, reject) => enqueue({ bytes, tries: 0, resolve, reject })),
    async close() {
      closed = true
      await Promise.all(seats.map(({ reader }) => end(reader)))
    },
  }
}

function startReader(megabytes: number): ChildProcess {
  const script = new URL(`./read-file-process${extname(import.meta.url)}`, import.meta.url)
  const compiled = getCompileCacheDir()
  const reader = fork(fileURLToPath(script), [], {
    execPath: process.execPath,
    execArgv: ['--no-warnings', `--max-old-space-size=${megabytes}`],
    // Nothing of this process's secrets.
    env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  letRest(reader)
  return reader
}

/** Nothing waits for a reader without work: neither the process's end nor a test's. */
function letRest(reader: ChildProcess): void {
  reader.unref()
  reader.channel?.unref()
}

async function end(reader: ChildProcess): Promise<void> {
  if (reader.exitCode !== null || reader.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  reader.ref()
  reader.once('exit', () => resolve())
  reader.kill('SIGKILL')
  await promise
}
