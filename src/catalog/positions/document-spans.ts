// Where a file's documents lie, told by separators and brackets alone: to find the one that a place is in. Reads no
// document, so it takes no memory and does not know whether one can be read.
import { chunksOf, trimLeadingSpace } from '../../go/yaml/chunks.ts'
import { decodeLikeGo } from '../../go/utf8.ts'

export interface DocumentSpan {
  /** Byte offsets in the file: `[start, end)`. */
  readonly start: number
  readonly end: number
}

const BRACE = 0x7b
const BRACKET = 0x5b
const CLOSING_BRACE = 0x7d
const CLOSING_BRACKET = 0x5d
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** How far the file's beginning is looked at for an opening brace. */
const lookAhead = 4096

/** The documents in their order: as opm tells them apart, where all of them can be read. */
export function* documentSpans(bytes: Uint8Array): Generator<DocumentSpan> {
  const isJson = trimLeadingSpace(decodeLikeGo(bytes.subarray(0, lookAhead))).startsWith('{')
  let at = 0
  if (isJson) {
    for (;;) {
      while (at < bytes.length && (bytes[at] as number) <= 0x20) at++
      if (bytes[at] !== BRACE) break
      const end = closingBrace(bytes, at)
      yield { start: at, end }
      at = end
    }
  }
  if (at < bytes.length) yield* chunksOf(bytes, at, 0, decodeLikeGo)
}

/** Behind the bracket that closes the one at `start`, or the end of the file. */
function closingBrace(bytes: Uint8Array, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === QUOTE) at = closingQuote(bytes, at)
    else if (byte === BRACE || byte === BRACKET) depth++
    else if ((byte === CLOSING_BRACE || byte === CLOSING_BRACKET) && --depth === 0) return at + 1
  }
  return bytes.length
}

/** The quote that closes the one at `start`, or the end of the file. */
function closingQuote(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
