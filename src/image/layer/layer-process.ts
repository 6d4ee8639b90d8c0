// Reads, packs and renders untrusted catalogs in a process without secrets.
import { inRenderedOrder } from '../../catalog/write/rendered-order.ts'
import { writeJson } from '../../catalog/write/write-json.ts'
import { answerOrders } from '../../workers/answer-orders.ts'
import { ImageError, type ImageErrorCode } from '../image-error.ts'
import { renderImage, type PulledFiles } from '../rendered-image.ts'
import type { CatalogFile } from '../catalog-publisher.ts'
import type { ListedBundle } from '../provenance/listed-bundles.ts'
import { bundlesIn } from './catalog-content.ts'
import { packLayer, type LayerOrder, type PackedLayer } from './pack-layer.ts'

export interface RenderOrder extends PulledFiles {
  readonly reference: string
}

export type PackingOrder =
  { readonly pack: LayerOrder } | { readonly list: readonly CatalogFile[] } | { readonly render: RenderOrder }

export type PackingAnswer =
  | { readonly layer: PackedLayer }
  | { readonly listed: readonly ListedBundle[] }
  | { readonly text: string }
  | { readonly refused: { readonly code: ImageErrorCode; readonly message: string } }

async function work(order: PackingOrder): Promise<PackingAnswer> {
  try {
    if ('pack' in order) return { layer: await packLayer(order.pack) }
    if ('list' in order) return { listed: bundlesIn(order.list) }
    const { reference, ...image } = order.render
    const rendered = renderImage(image, reference)
    if (!rendered.ok) throw new ImageError('invalid-catalog', rendered.error)
    return { text: writeJson(inRenderedOrder(rendered.value)) }
  } catch (error) {
    if (error instanceof ImageError) return { refused: { code: error.code, message: error.message } }
    throw error
  }
}

answerOrders(work)
