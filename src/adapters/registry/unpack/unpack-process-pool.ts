// Reuses a process that reads bundles, because starting one costs more than reading most bundles. Unpacking without
// reading uses a fresh process per archive.
import { extname } from 'node:path'
import { createWorkerPool } from '../../workers/worker-pool.ts'
import { WorkerFault } from '../../workers/start-worker.ts'
import { RegistryError } from '../registry-error.ts'
import type { UnpackRequest, UnpackResult } from './unpack-process.ts'

const workerScriptUrl = new URL(`./unpack-process${extname(import.meta.url)}`, import.meta.url)

// Files are outside the heap and have a budget. Parsed content is inside the heap and many times as large. Callers
// limit concurrency, because each waiting order holds its layers in memory.
const sharedWorkerPoolOptions = { script: workerScriptUrl, processes: 4, maxWaiting: 100 }
const unpackWorkerPool = createWorkerPool<UnpackRequest, UnpackResult>({
  ...sharedWorkerPoolOptions,
  heap: 128,
  maxIdleMs: 0,
  maxOrders: 1,
})
const bundleReaderWorkerPool = createWorkerPool<UnpackRequest, UnpackResult>({
  ...sharedWorkerPoolOptions,
  heap: 512,
  // Most pull requests add a bundle, and reading one takes a tenth of the time that a process takes to start.
  maxIdleMs: 5 * 60_000,
  maxOrders: 50,
})

/** Rejects with a RegistryError for archives that are invalid, take too long, or need too much memory. */
export async function runUnpackProcess(
  order: UnpackRequest,
  milliseconds: number,
): Promise<Exclude<UnpackResult, { readonly code: string }>> {
  const result = await (order.labels === undefined ? unpackWorkerPool : bundleReaderWorkerPool)
    .run(order, milliseconds)
    .catch((error: unknown) => {
      throw error instanceof WorkerFault ? toUnpackError(error, milliseconds) : error
    })
  if ('code' in result) throw new RegistryError(result.code, result.message)
  return result
}

function toUnpackError(cause: WorkerFault, milliseconds: number): Error {
  switch (cause.code) {
    case 'too-much-memory':
      return new RegistryError(
        'unsupported',
        'catalog-bot rejects the image because unpacking it takes too much memory',
        {
          cause,
        },
      )
    // A timeout may be caused by this machine, so it is retryable.
    case 'too-slow':
      return new RegistryError(
        'timeout',
        `unpacking the image took longer than ${milliseconds} milliseconds`,
        { cause },
      )
    // A process that was killed externally says nothing about the archive.
    case 'ended':
    case 'not-started':
    case 'displaced':
    case 'crowded':
    case 'closed':
      return new RegistryError('timeout', `unpacking the image was interrupted: ${cause.message}`, { cause })
    case 'failed':
      return new Error(`unpacking failed: ${cause.message}`, { cause })
  }
}
