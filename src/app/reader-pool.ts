// Reads catalog files away from the thread that answers deliveries: a 20 MB file must not make GitHub wait.
import { extname } from 'node:path'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { FileFacts } from '../catalog/catalog.ts'
import { readFile } from '../catalog/read-file.ts'

export interface ReaderPool {
  /** What the file's bytes say. Rejects only when the worker itself died twice. */
  read(bytes: Uint8Array): Promise<FileFacts>
  close(): Promise<void>
}

/** Smaller files cost less here than the way to a worker and back. */
const smallFile = 32 * 1024

interface Seat {
  readonly worker: Worker
  readonly waiting: {
    readonly bytes: Uint8Array
    readonly tries: number
    resolve(facts: FileFacts): void
    reject(error: Error): void
  }[]
}

export function openReaderPool(size = Math.max(1, availableParallelism() - 1)): ReaderPool {
  const seats: Seat[] = []
  let closed = false

  function seat(): Seat {
    const worker = new Worker(new URL(`./read-file-worker${extname(import.meta.url)}`, import.meta.url))
    const taken: Seat = { worker, waiting: [] }
    worker.unref()
    worker.on('message', (facts: FileFacts) => taken.waiting.shift()?.resolve(facts))
    worker.on('error', (error) => replace(taken, error))
    worker.on('exit', () => replace(taken, new Error('a reader stopped')))
    return taken
  }

  function replace(dead: Seat, error: unknown): void {
    const index = seats.indexOf(dead)
    if (index < 0) return
    seats.splice(index, 1)
    const cause = error instanceof Error ? error : new Error(String(error))
    for (const job of dead.waiting)
      if (closed || job.tries > 0) job.reject(new Error('a catalog file could not be read', { cause }))
      else enqueue({ ...job, tries: job.tries + 1 })
  }

  function enqueue(job: Seat['waiting'][number]): void {
    let best =
      seats.length < size ? undefined : seats.reduce((a, b) => (a.waiting.length <= b.waiting.length ? a : b))
    if (best === undefined) {
      best = seat()
      seats.push(best)
    }
    best.waiting.push(job)
    best.worker.postMessage(job.bytes)
  }

  return {
    read: (bytes) =>
      bytes.length <= smallFile
        ? Promise.resolve(readFile(bytes))
        : new Promise((resolve, reject) => enqueue({ bytes, tries: 0, resolve, reject })),
    async close() {
      closed = true
      await Promise.all(seats.map(({ worker }) => worker.terminate()))
    },
  }
}
