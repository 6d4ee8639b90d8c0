// Reads catalog files in other processes, so that none delays GitHub or exhausts the App's memory.
import { availableParallelism } from 'node:os'
import type { ParsedCatalogFile } from '@catalog-bot/fbc/facts/catalog'
import { parseCatalogFile } from '@catalog-bot/fbc/load/parse-catalog-file'
import { findWorkerScript, isResourceLimitFault } from '../adapters/workers/start-worker.ts'
import { WorkerPool } from '../adapters/workers/worker-pool.ts'
import { defaultMaxTreePaths } from '../adapters/git/mirror.ts'

export interface EvaluationLimits {
  /** Paths of a whole tree, and of a difference between two. */
  readonly paths: number
  /** Paths that the pull request changes. */
  readonly changedPaths: number
  /** Bytes of all changed files, both sides together, which are in memory at once. */
  readonly changedBytes: number
  /** Questions to GitHub about people (logins, memberships, roles). */
  readonly people: number
  /** Images that registries are asked about. */
  readonly images: number
  /** Comments, and separately reviews; each hundred is a request. */
  readonly comments: number
  /** Milliseconds of processing, excluding waits for registries and GitHub. */
  readonly time: number
  /** Megabytes of heap. */
  readonly memory: number
}

export const defaultEvaluationLimits: EvaluationLimits = {
  paths: defaultMaxTreePaths,
  // Ten times a release of every package of the largest public repository.
  changedPaths: 100_000,
  // Twice both sides of the largest public catalog, fully rewritten.
  changedBytes: 512 * 1024 * 1024,
  // Real pull requests need dozens: the author, commenters and owners.
  people: 500,
  // Twice the images of a new copy of the largest public catalog.
  images: 50_000,
  // The longest public discussions have some hundred.
  comments: 5000,
  time: 60_000,
  memory: 4096,
}

/**
 * Beyond a limit, the answer is "too large to check", so that one author cannot use up everyone's resources.
 * The message is a sentence for people, without a period.
 */
export class ChangeTooLargeError extends Error {
  override readonly name = 'TooLarge'
}

export interface CatalogFileReaderPool {
  /**
   * The facts in the file. Undefined if the file exceeds the limits on time or memory twice, the second time alone in a
   * process. Rejects only if a reader failed twice for another reason.
   */
  read(bytes: Uint8Array): Promise<ParsedCatalogFile | undefined>
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

export function createCatalogFileReaderPool(
  processes = Math.max(1, availableParallelism() - 1),
  limits = defaultCatalogFileReaderLimits,
  /** As in `nice`. Default: that of this process. */
  niceness?: number,
): CatalogFileReaderPool {
  const readers = new WorkerPool<Uint8Array, ParsedCatalogFile | undefined>({
    script: findWorkerScript('read-file-process', import.meta.url),
    heap: limits.memory,
    processes,
    ...(niceness !== undefined && { niceness }),
    // Each loading catalog queues eight files.
    maxWaiting: 1000,
    // Pull requests come in bursts, and an idle reader keeps the memory of a large catalog.
    maxIdleMs: 60_000,
    // The first failure may be due to a busy machine.
    maxAttempts: 2,
    onFault(cause) {
      if (isResourceLimitFault(cause)) return undefined
      throw new Error('a catalog file could not be read', { cause })
    },
  })
  return {
    read: async (bytes) =>
      bytes.length <= maxBytesReadInMainProcess ? parseCatalogFile(bytes) : readers.run(bytes, limits.time),
    close: () => readers.close(),
  }
}

export function createChangeTooLargeError(found: number, what: string, max: number): ChangeTooLargeError {
  const [has, may] = [found, max].map((number) => number.toLocaleString('en'))
  return new ChangeTooLargeError(`the change has ${has} ${what}; catalog-bot checks at most ${may}`)
}
