// Reads, packs and renders untrusted catalogs in a process without secrets.
import { sortCatalogForRendering } from '@catalog-bot/fbc/write/blob-order'
import { formatCatalogJson } from '@catalog-bot/fbc/write/format-json'
import { serveWorkerRequests } from '../../workers/answer-orders.ts'
import {
  type CatalogImageFile,
  ImageError,
  type ImageErrorCode,
  type CatalogBundleSummary,
} from '../catalog-publisher.ts'
import { renderImage, type PulledImageFiles } from '../render-image.ts'
import {
  packLayer,
  type PackLayerRequest,
  type PackedCatalogLayer,
  listBundlesInCatalogFiles,
} from './pack-layer.ts'

export interface RenderImageRequest extends PulledImageFiles {
  readonly reference: string
}

/** `subject`: its name in messages. */
export type LayerWorkerRequest = { readonly subject: string } & (
  | { readonly pack: PackLayerRequest }
  | { readonly list: readonly CatalogImageFile[] }
  | { readonly render: RenderImageRequest }
)

export type LayerWorkerResponse =
  | { readonly layer: PackedCatalogLayer }
  | { readonly listed: readonly CatalogBundleSummary[] }
  | { readonly text: string }
  | { readonly rejected: { readonly code: ImageErrorCode; readonly message: string } }

async function handleLayerWorkerRequest(order: LayerWorkerRequest): Promise<LayerWorkerResponse> {
  try {
    if ('pack' in order) return { layer: await packLayer(order.pack) }
    if ('list' in order) return { listed: listBundlesInCatalogFiles(order.list) }
    const { reference, ...image } = order.render
    const rendered = renderImage(image, reference)
    if (!rendered.ok) throw new ImageError('invalid-catalog', rendered.error)
    return { text: formatCatalogJson(sortCatalogForRendering(rendered.value)) }
  } catch (error) {
    if (error instanceof ImageError) return { rejected: { code: error.code, message: error.message } }
    throw error
  }
}

serveWorkerRequests(handleLayerWorkerRequest)
