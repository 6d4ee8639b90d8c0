// Nested lists of bytes, so that content that repeats in an archive is one shared object.

export type BytePiece = Uint8Array | readonly BytePiece[]

export function forEachPiece(piece: BytePiece, take: (bytes: Uint8Array) => void): void {
  if (piece instanceof Uint8Array) take(piece)
  else for (const part of piece) forEachPiece(part, take)
}

export function getPieceLength(piece: BytePiece): number {
  if (piece instanceof Uint8Array) return piece.length
  let length = 0
  for (const part of piece) length += getPieceLength(part)
  return length
}

export function joinPieces(piece: BytePiece): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(getPieceLength(piece))
  let at = 0
  forEachPiece(piece, (part) => {
    bytes.set(part, at)
    at += part.length
  })
  return bytes
}
