// Packs each layer in a separate process, because a catalog fills its memory. Runs at most two processes at once.
import { extname } from 'node:path'
import { WorkerFault } from '../../workers/start-worker.ts'
import { createWorkerPool } from '../../workers/worker-pool.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { type CatalogImageFile, ImageError, type CatalogBundleSummary } from '../catalog-publisher.ts'
import type { LayerWorkerResponse, LayerWorkerRequest, RenderImageRequest } from './layer-process.ts'
import type { PackLayerRequest, PackedCatalogLayer } from './pack-layer.ts'

const workerScriptUrl = new URL(`./layer-process${extname(import.meta.url)}`, import.meta.url)

// Public catalogs have up to 200 MB, and parsing takes several times as much.
const layerWorkerPool = createWorkerPool<LayerWorkerRequest, LayerWorkerResponse>({
  script: workerScriptUrl,
  heap: 2048,
  processes: 2,
  maxWaiting: 20,
  maxOrders: 1,
  maxIdleMs: 1000,
})

/** Milliseconds. A catalog of 200 MB takes under a minute. */
const layerWorkerTimeoutMs = 300_000

/** Rejects with an ImageError for a catalog that is invalid or exceeds a limit. */
export async function packLayerInWorkerProcess(order: PackLayerRequest): Promise<PackedCatalogLayer> {
  const answer = await runLayerWorker({ pack: order }, 'the catalog')
  if (!('layer' in answer)) throw new Error('packing returned no layer')
  return answer.layer
}

export async function listBundlesInWorkerProcess(
  files: readonly CatalogImageFile[],
): Promise<readonly CatalogBundleSummary[]> {
  const answer = await runLayerWorker({ list: files }, 'the catalog')
  if (!('listed' in answer)) throw new Error('listing returned no bundles')
  return answer.listed
}

/** Renders an image like `opm render`. `name` is its name in messages. */
export async function renderImageInWorkerProcess(order: RenderImageRequest, name: string): Promise<string> {
  const answer = await runLayerWorker({ render: order }, name)
  if (!('text' in answer)) throw new Error('rendering returned no text')
  return answer.text
}

async function runLayerWorker(
  order: LayerWorkerRequest,
  subject: string,
): Promise<Exclude<LayerWorkerResponse, { readonly refused: unknown }>> {
  let answer: LayerWorkerResponse
  try {
    answer = await layerWorkerPool.run(order, layerWorkerTimeoutMs)
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    if (error.code === 'too-much-memory')
      throw new ImageError('invalid-catalog', `reading ${subject} takes too much memory`, error)
    if (error.code === 'failed')
      throw new Error(`reading ${subject} failed: ${error.message}`, { cause: error })
    // A busy or killed process says nothing about the catalog, so the error is retryable.
    throw new RegistryError('timeout', `reading ${subject} was interrupted: ${error.message}`, {
      cause: error,
    })
  }
  if (!('refused' in answer)) return answer
  const { code, message } = answer.refused
  throw new ImageError(code, 'render' in order ? `${subject}: ${message}` : message)
}
