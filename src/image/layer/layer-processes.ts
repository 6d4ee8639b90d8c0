// The processes in which layers are packed: one for each, since a catalog fills it, and two at once at most.
import { extname } from 'node:path'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { ImageError } from '../image-error.ts'
import type { CatalogFile } from '../catalog-publisher.ts'
import type { ListedBundle } from '../provenance/listed-bundles.ts'
import type { PackingAnswer, PackingOrder, RenderOrder } from './layer-process.ts'
import type { LayerOrder, PackedLayer } from './pack-layer.ts'

const script = new URL(`./layer-process${extname(import.meta.url)}`, import.meta.url)

// Public catalogs have up to 200 MB, and what is read of them takes several times as much.
const packers = openWorkerPool<PackingOrder, PackingAnswer>({
  script,
  heap: 2048,
  processes: 2,
  mostWaiting: 20,
  mostOrders: 1,
  longestRest: 1000,
})

/** Longer than any catalog takes: one of 200 MB is packed in under a minute. */
const longest = 300_000

/** Rejects with an ImageError for a catalog that is refused, or that takes too much. */
export async function packInProcess(order: LayerOrder): Promise<PackedLayer> {
  const answer = await ask({ pack: order }, 'the catalog')
  if (!('layer' in answer)) throw new Error('packing gave no layer')
  return answer.layer
}

/** The bundles of a catalog that is published already. */
export async function listInProcess(files: readonly CatalogFile[]): Promise<readonly ListedBundle[]> {
  const answer = await ask({ list: files }, 'the catalog')
  if (!('listed' in answer)) throw new Error('listing gave no bundles')
  return answer.listed
}

/** The catalog or bundle in an image's files as `opm render` prints it; `name` is what people know it by. */
export async function renderInProcess(order: RenderOrder, name: string): Promise<string> {
  const answer = await ask({ render: order }, name)
  if (!('text' in answer)) throw new Error('rendering gave no text')
  return answer.text
}

async function ask(
  order: PackingOrder,
  what: string,
): Promise<Exclude<PackingAnswer, { readonly refused: unknown }>> {
  let answer: PackingAnswer
  try {
    answer = await packers.run(order, longest)
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    if (error.code === 'too-much-memory')
      throw new ImageError('invalid-catalog', `${what} takes too much memory to be read`, error)
    if (error.code === 'failed') throw new Error(`reading ${what} failed: ${error.message}`, { cause: error })
    // Busy or ended from outside: nothing is said of the catalog by that, and it is tried again.
    throw new RegistryError('timeout', `reading ${what} was ended early: ${error.message}`, { cause: error })
  }
  if (!('refused' in answer)) return answer
  const { code, message } = answer.refused
  throw new ImageError(code, 'render' in order ? `${what}: ${message}` : message)
}
