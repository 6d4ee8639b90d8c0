// Packs layers in separate processes: one each, since a catalog fills it, and at most two at once.
import { extname } from 'node:path'
import { WorkerFault } from '../../workers/worker-fault.ts'
import { openWorkerPool } from '../../workers/worker-pool.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { ImageError } from '../image-error.ts'
import type { CatalogImageFile } from '../catalog-publisher.ts'
import type { ListedBundle } from '../provenance/listed-bundles.ts'
import type { LayerWorkerResponse, LayerWorkerRequest, RenderImageRequest } from './layer-process.ts'
import type { PackLayerRequest, PackedCatalogLayer } from './pack-layer.ts'

const workerScriptUrl = new URL(`./layer-process${extname(import.meta.url)}`, import.meta.url)

// Public catalogs have up to 200 MB, and parsing takes several times as much.
const layerWorkers = openWorkerPool<LayerWorkerRequest, LayerWorkerResponse>({
  script: workerScriptUrl,
  heap: 2048,
  processes: 2,
  maxWaiting: 20,
  maxOrders: 1,
  maxIdleMs: 1000,
})

/** Milliseconds. A catalog of 200 MB takes under a minute. */
const maxLayerWorkMs = 300_000

/** Rejects with an ImageError for a catalog that is invalid or exceeds a limit. */
export async function packLayerInProcess(order: PackLayerRequest): Promise<PackedCatalogLayer> {
  const answer = await runLayerWorker({ pack: order }, 'the catalog')
  if (!('layer' in answer)) throw new Error('packing gave no layer')
  return answer.layer
}

export async function listBundlesInProcess(
  files: readonly CatalogImageFile[],
): Promise<readonly ListedBundle[]> {
  const answer = await runLayerWorker({ list: files }, 'the catalog')
  if (!('listed' in answer)) throw new Error('listing gave no bundles')
  return answer.listed
}

/** Renders an image as `opm render` does; `name` is its name in messages. */
export async function renderImageInProcess(order: RenderImageRequest, name: string): Promise<string> {
  const answer = await runLayerWorker({ render: order }, name)
  if (!('text' in answer)) throw new Error('rendering gave no text')
  return answer.text
}

async function runLayerWorker(
  order: LayerWorkerRequest,
  subject: string,
): Promise<Exclude<LayerWorkerResponse, { readonly refused: unknown }>> {
  let answer: LayerWorkerResponse
  try {
    answer = await layerWorkers.run(order, maxLayerWorkMs)
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    if (error.code === 'too-much-memory')
      throw new ImageError('invalid-catalog', `${subject} takes too much memory to be read`, error)
    if (error.code === 'failed')
      throw new Error(`reading ${subject} failed: ${error.message}`, { cause: error })
    // Busy or killed: this says nothing about the catalog, so it is retryable.
    throw new RegistryError('timeout', `reading ${subject} was ended early: ${error.message}`, {
      cause: error,
    })
  }
  if (!('refused' in answer)) return answer
  const { code, message } = answer.refused
  throw new ImageError(code, 'render' in order ? `${subject}: ${message}` : message)
}
