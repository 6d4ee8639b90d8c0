// The process in which a catalog is read and packed: what it holds is of strangers, and no secret of ours is here.
import { answerOrders } from '../../workers/answer-orders.ts'
import { ImageError, type ImageErrorCode } from '../image-error.ts'
import { packLayer, type LayerOrder, type PackedLayer } from './pack-layer.ts'

export type LayerAnswer =
  | { readonly layer: PackedLayer }
  | { readonly refused: { readonly code: ImageErrorCode; readonly message: string } }

async function work(order: LayerOrder): Promise<LayerAnswer> {
  try {
    return { layer: await packLayer(order) }
  } catch (error) {
    if (error instanceof ImageError) return { refused: { code: error.code, message: error.message } }
    throw error
  }
}

answerOrders(work)
