import { createHash } from 'node:crypto'
import { forEachPiece, joinPieces } from '@catalog-bot/fbc/go/tar/byte-pieces'
import type { CatalogImageFile, CatalogLayerSummary } from '../catalog-publisher.ts'
import { createCatalogLayerContent } from './catalog-content.ts'
import { gzipPieces } from './gzip-pieces.ts'

export interface PackLayerRequest {
  readonly files: readonly CatalogImageFile[]
  readonly cache: boolean
  readonly compression: 'gzip' | 'none'
  /** Diff IDs of the layers whose bytes the caller already has. */
  readonly unlessDiffId: readonly string[]
}

/** Without bytes if the caller already has them. */
export interface PackedCatalogLayer {
  readonly summary: Omit<CatalogLayerSummary, 'digest' | 'size'>
  readonly packed?: { readonly bytes: Uint8Array; readonly digest: string }
}

export async function packLayer(order: PackLayerRequest): Promise<PackedCatalogLayer> {
  const { archive, ...content } = createCatalogLayerContent(order.files, order.cache)
  // Starts first, because other threads do the compression.
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
  if (order.compression === 'none') return { summary, packed: { bytes: joinPieces(archive), digest: diffId } }
  const bytes = await (compressed ?? gzipPieces(archive))
  return {
    summary,
    packed: { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` },
  }
}
