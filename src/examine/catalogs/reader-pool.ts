// Reads catalog files away from the process that answers deliveries: a 20 MB file must not make GitHub wait, nor one that
// needs more memory than there is end the App.
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import type { FileFacts } from '../../catalog/facts/catalog.ts'
import { readFile } from '../../catalog/load/read-file.ts'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'

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

export function openReaderPool(
  processes = Math.max(1, availableParallelism() - 1),
  limits = defaultLimits,
): ReaderPool {
  const readers = openWorkerPool<Uint8Array, FileFacts>({
    script: new URL(`./read-file-process${extname(import.meta.url)}`, import.meta.url),
    heap: limits.memory,
    processes,
    // A catalog that is loaded has eight files at a time here.
    mostWaiting: 1000,
    // Pull requests come together; a reader that has read a large catalog keeps much of what it took.
    longestRest: 60_000,
    // A machine that was busy with something else deserves a second try.
    mostTries: 2,
  })
  return {
    async read(bytes) {
      if (bytes.length <= smallFile) return readFile(bytes)
      try {
        return await readers.run(bytes, limits.time)
      } catch (cause) {
        if (cause instanceof WorkerFault && (cause.code === 'too-slow' || cause.code === 'too-much-memory'))
          return undefined
        throw new Error('a catalog file could not be read', { cause })
      }
    },
    close: () => readers.close(),
  }
}
