// Nested lists of bytes, so that content that repeats in an archive is one shared object.

export type Piece = Uint8Array | readonly Piece[]

export function forEachPiece(piece: Piece, take: (bytes: Uint8Array) => void): void {
  if (piece instanceof Uint8Array) take(piece)
  else for (const part of piece) forEachPiece(part, take)
}

export function lengthOf(piece: Piece): number {
  if (piece instanceof Uint8Array) return piece.length
  let length = 0
  for (const part of piece) length += lengthOf(part)
  return length
}

export function joinedPieces(piece: Piece): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(lengthOf(piece))
  let at = 0
  forEachPiece(piece, (part) => {
    bytes.set(part, at)
    at += part.length
  })
  return bytes
}
