// The processes in which archives are unpacked. One that reads bundles goes on to the next one, because starting it costs
// more than most bundles do; where nothing is read, each archive has its own.
import { extname } from 'node:path'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { RegistryError } from '../registry-error.ts'
import type { UnpackOrder, UnpackResult } from './unpack-process.ts'

const script = new URL(`./unpack-process${extname(import.meta.url)}`, import.meta.url)

// Files lie outside the heap and have their own budget; what is read lies in it, many times as large. Those who pull
// have few at once; each that waits has its layers in memory.
const common = { script, processes: 4, mostWaiting: 100, longestRest: 10_000 }
const unpackers = openWorkerPool<UnpackOrder, UnpackResult>({ ...common, heap: 128, mostOrders: 1 })
const readers = openWorkerPool<UnpackOrder, UnpackResult>({ ...common, heap: 512, mostOrders: 50 })

/** Rejects with a RegistryError for archives that are refused, take too long, or too much memory. */
export async function inUnpackProcess(
  order: UnpackOrder,
  milliseconds: number,
): Promise<Exclude<UnpackResult, { readonly code: string }>> {
  const result = await (order.labels === undefined ? unpackers : readers)
    .run(order, milliseconds)
    .catch((error: unknown) => {
      throw error instanceof WorkerFault ? asRegistryError(error, milliseconds) : error
    })
  if ('code' in result) throw new RegistryError(result.code, result.message)
  return result
}

function asRegistryError(cause: WorkerFault, milliseconds: number): Error {
  switch (cause.code) {
    case 'too-much-memory':
      return new RegistryError('unsupported', 'the image is refused: unpacking it takes too much memory', {
        cause,
      })
    // Time says as much about this machine as about the archive: it is nobody's fault, and tried again.
    case 'too-slow':
      return new RegistryError(
        'timeout',
        `unpacking the image takes longer than ${milliseconds} milliseconds`,
        { cause },
      )
    // So is the rest: what ends a process from outside says nothing of the archive.
    case 'ended':
    case 'not-started':
    case 'displaced':
    case 'crowded':
    case 'closed':
      return new RegistryError('timeout', `unpacking the image was ended early: ${cause.message}`, { cause })
    case 'failed':
      return new Error(`unpacking failed: ${cause.message}`, { cause })
  }
}
