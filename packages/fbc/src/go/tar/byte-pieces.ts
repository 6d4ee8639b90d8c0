// Nested lists of bytes, so that content that repeats in an archive is one shared object.

export type ByteChunkTree = Uint8Array | readonly ByteChunkTree[]

export function forEachByteChunk(piece: ByteChunkTree, take: (bytes: Uint8Array) => void): void {
  if (piece instanceof Uint8Array) take(piece)
  else for (const part of piece) forEachByteChunk(part, take)
}

export function getByteChunkTreeLength(piece: ByteChunkTree): number {
  if (piece instanceof Uint8Array) return piece.length
  let length = 0
  for (const part of piece) length += getByteChunkTreeLength(part)
  return length
}

export function joinByteChunks(piece: ByteChunkTree): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(getByteChunkTreeLength(piece))
  let at = 0
  forEachByteChunk(piece, (part) => {
    bytes.set(part, at)
    at += part.length
  })
  return bytes
}
