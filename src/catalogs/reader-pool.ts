// Reads catalog files in other processes: a 20 MB file must not delay GitHub, and one that exhausts memory must not end
// the App.
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import type { CatalogFileFacts } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { WorkerFault } from '../adapters/workers/worker-fault.ts'
import { openWorkerPool } from '../adapters/workers/worker-pool.ts'

export interface CatalogFileReaderPool {
  /**
   * What the file's bytes say; undefined for a file that takes more time or memory than any file may, alone and at the
   * second try. Rejects only when a reader died of something else, twice.
   */
  read(bytes: Uint8Array): Promise<CatalogFileFacts | undefined>
  close(): Promise<void>
}

export interface CatalogFileReaderLimits {
  /** Milliseconds for one file. The largest that GitHub stores (100 MB) take about three seconds. */
  readonly time: number
  /** Megabytes of heap per reader. */
  readonly memory: number
}

const defaultCatalogFileReaderLimits: CatalogFileReaderLimits = { time: 60_000, memory: 2048 }

/** Bytes. Reading a smaller file here costs less than sending it to a reader. */
const maxBytesReadInMainProcess = 32 * 1024

export function openCatalogFileReaderPool(
  processes = Math.max(1, availableParallelism() - 1),
  limits = defaultCatalogFileReaderLimits,
): CatalogFileReaderPool {
  const readers = openWorkerPool<Uint8Array, CatalogFileFacts>({
    script: new URL(`./read-file-process${extname(import.meta.url)}`, import.meta.url),
    heap: limits.memory,
    processes,
    // Each loading catalog queues eight files.
    maxWaiting: 1000,
    // Pull requests come in bursts, and an idle reader keeps the memory of a large catalog.
    maxIdleMs: 60_000,
    // The first failure may be due to a busy machine.
    maxAttempts: 2,
  })
  return {
    async read(bytes) {
      if (bytes.length <= maxBytesReadInMainProcess) return parseCatalogFile(bytes)
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
