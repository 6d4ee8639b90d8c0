// Packs each layer in a separate process, because a catalog fills its memory. Runs at most two processes at once.
import { findWorkerScript } from '../../workers/start-worker.ts'
import { WorkerPool } from '../../workers/worker-pool.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { type CatalogImageFile, ImageError, type CatalogBundleSummary } from '../catalog-publisher.ts'
import type { LayerWorkerResponse, LayerWorkerRequest, RenderImageRequest } from './layer-process.ts'
import type { PackLayerRequest, PackedCatalogLayer } from './pack-layer.ts'

// Public catalogs have up to 200 MB, and parsing takes several times as much.
const layerWorkerPool = new WorkerPool<LayerWorkerRequest, LayerWorkerResponse>({
  script: findWorkerScript('layer-process', import.meta.url),
  heap: 2048,
  processes: 2,
  maxWaiting: 20,
  maxOrders: 1,
  maxIdleMs: 1000,
  onFault(cause, { subject }) {
    if (cause.code === 'too-much-memory')
      throw new ImageError('invalid-catalog', `reading ${subject} takes too much memory`, cause)
    if (cause.code === 'failed') throw new Error(`reading ${subject} failed: ${cause.message}`, { cause })
    // A busy or killed process says nothing about the catalog, so the error is retryable.
    throw new RegistryError('timeout', `reading ${subject} was interrupted: ${cause.message}`, { cause })
  },
})

/** Milliseconds. A catalog of 200 MB takes under a minute. */
const layerWorkerTimeoutMs = 300_000

/** Rejects with an ImageError for a catalog that is invalid or exceeds a limit. */
export async function packLayerInWorkerProcess(order: PackLayerRequest): Promise<PackedCatalogLayer> {
  const answer = await runLayerWorker({ subject: 'the catalog', pack: order })
  if (!('layer' in answer)) throw new Error('packing returned no layer')
  return answer.layer
}

export async function listBundlesInWorkerProcess(
  files: readonly CatalogImageFile[],
): Promise<readonly CatalogBundleSummary[]> {
  const answer = await runLayerWorker({ subject: 'the catalog', list: files })
  if (!('listed' in answer)) throw new Error('listing returned no bundles')
  return answer.listed
}

/** Renders an image like `opm render`. `name` is its name in messages. */
export async function renderImageInWorkerProcess(order: RenderImageRequest, name: string): Promise<string> {
  const answer = await runLayerWorker({ subject: name, render: order })
  if (!('text' in answer)) throw new Error('rendering returned no text')
  return answer.text
}

async function runLayerWorker(
  order: LayerWorkerRequest,
): Promise<Exclude<LayerWorkerResponse, { readonly rejected: unknown }>> {
  const answer = await layerWorkerPool.run(order, layerWorkerTimeoutMs)
  if (!('rejected' in answer)) return answer
  const { code, message } = answer.rejected
  throw new ImageError(code, 'render' in order ? `${order.subject}: ${message}` : message)
}
