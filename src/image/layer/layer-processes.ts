// Packs layers in separate processes: one each, since a catalog fills it, and at most two at once.
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

// Public catalogs have up to 200 MB, and parsing takes several times as much.
const packers = openWorkerPool<PackingOrder, PackingAnswer>({
  script,
  heap: 2048,
  processes: 2,
  mostWaiting: 20,
  mostOrders: 1,
  longestRest: 1000,
})

/** Milliseconds. A catalog of 200 MB takes under a minute. */
const longest = 300_000

/** Rejects with an ImageError for a catalog that is invalid or exceeds a limit. */
export async function packInProcess(order: LayerOrder): Promise<PackedLayer> {
  const answer = await ask({ pack: order }, 'the catalog')
  if (!('layer' in answer)) throw new Error('packing gave no layer')
  return answer.layer
}

export async function listInProcess(files: readonly CatalogFile[]): Promise<readonly ListedBundle[]> {
  const answer = await ask({ list: files }, 'the catalog')
  if (!('listed' in answer)) throw new Error('listing gave no bundles')
  return answer.listed
}

/** Renders an image as `opm render` does; `name` is its name in messages. */
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
    // Busy or killed: this says nothing about the catalog, so it is retryable.
    throw new RegistryError('timeout', `reading ${what} was ended early: ${error.message}`, { cause: error })
  }
  if (!('refused' in answer)) return answer
  const { code, message } = answer.refused
  throw new ImageError(code, 'render' in order ? `${what}: ${message}` : message)
}
