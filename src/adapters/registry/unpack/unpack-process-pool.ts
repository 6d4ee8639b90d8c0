// Reuses a process that reads bundles, because starting one costs more than reading most bundles. Unpacking without
// reading uses a fresh process per archive.
import { WorkerPool } from '../../workers/worker-pool.ts'
import { findWorkerScript, type WorkerFault } from '../../workers/start-worker.ts'
import { RegistryError } from '../registry-error.ts'
import type { UnpackRequest, UnpackResult } from './unpack-process.ts'

// Files are outside the heap and have a budget. Parsed content is inside the heap and many times as large. Callers
// limit concurrency, because each waiting order holds its layers in memory.
const sharedWorkerPoolOptions = {
  script: findWorkerScript('unpack-process', import.meta.url),
  processes: 4,
  maxWaiting: 100,
  onFault: throwUnpackError,
}
const unpackWorkerPool = new WorkerPool<UnpackRequest, UnpackResult>({
  ...sharedWorkerPoolOptions,
  heap: 128,
  maxIdleMs: 0,
  maxOrders: 1,
})
const bundleReaderWorkerPool = new WorkerPool<UnpackRequest, UnpackResult>({
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
  const pool = order.labels === undefined ? unpackWorkerPool : bundleReaderWorkerPool
  const result = await pool.run(order, milliseconds)
  if ('code' in result) throw new RegistryError(result.code, result.message)
  return result
}

function throwUnpackError(cause: WorkerFault): never {
  switch (cause.code) {
    case 'too-much-memory':
      throw new RegistryError(
        'unsupported',
        'catalog-bot rejects the image because unpacking it takes too much memory',
        { cause },
      )
    // A timeout may be caused by this machine, so it is retryable.
    case 'too-slow':
      throw new RegistryError('timeout', cause.message.replace('the task', 'unpacking the image'), { cause })
    case 'failed':
      throw new Error(`unpacking failed: ${cause.message}`, { cause })
    // A process that was killed externally says nothing about the archive.
    case 'ended':
    case 'not-started':
    case 'displaced':
    case 'crowded':
    case 'closed':
      throw new RegistryError('timeout', `unpacking the image was interrupted: ${cause.message}`, { cause })
  }
}
