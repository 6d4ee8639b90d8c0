// A catalog's files to the one layer that is put on its base: archive, digests, compression.
import { createHash } from 'node:crypto'
import { forEachPiece, joinedPieces } from '../../go/tar/pieces.ts'
import type { CatalogFile, CatalogLayerSummary } from '../catalog-publisher.ts'
import { catalogContent } from './catalog-content.ts'
import { gzipPieces } from './gzip-pieces.ts'

export interface LayerOrder {
  readonly files: readonly CatalogFile[]
  readonly cache: boolean
  readonly compression: 'gzip' | 'none'
  /** Diff ids for which nobody wants the bytes: they are there already. */
  readonly unlessDiffId: readonly string[]
}

/** Without bytes, where its diff id is one that nobody wanted them for. */
export interface PackedLayer {
  readonly summary: Omit<CatalogLayerSummary, 'digest' | 'size'>
  readonly packed?: { readonly bytes: Uint8Array; readonly digest: string }
}

export async function packLayer(order: LayerOrder): Promise<PackedLayer> {
  const { archive, ...content } = catalogContent(order.files, order.cache)
  // Begun first: it is done by other threads while this one goes on.
  const compressed =
    order.compression === 'gzip' && order.unlessDiffId.length === 0 ? gzipPieces(archive) : undefined
  const hash = createHash('sha256')
  let uncompressed = 0
  forEachPiece(archive, (piece) => {
    hash.update(piece)
    uncompressed += piece.length
  })
  const diffId = `sha256:${hash.digest('hex')}`
  const summary = { ...content, diffId, uncompressed }
  if (order.unlessDiffId.includes(diffId)) return { summary }
  if (order.compression === 'none')
    return { summary, packed: { bytes: joinedPieces(archive), digest: diffId } }
  const bytes = await (compressed ?? gzipPieces(archive))
  return {
    summary,
    packed: { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` },
  }
}
