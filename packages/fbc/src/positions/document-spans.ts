// Finds the documents of a file by separators and brackets alone, without parsing, so it needs little memory.
import { splitYamlChunks, trimLeadingSpace } from '../go/yaml/chunks.ts'
import { decodeUtf8LikeGo } from '../go/utf8.ts'

export interface DocumentSpan {
  /** Byte offset in the file. */
  readonly start: number
  readonly end: number
}

const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSING_BRACE = 0x7d
const CLOSING_BRACKET = 0x5d
const DOUBLE_QUOTE = 0x22
const BACKSLASH = 0x5c

/** Bytes to search for an opening brace. */
const maxJsonDetectionBytes = 4096

/** Matches opm's documents if all of them are valid. */
export function* findDocumentSpans(bytes: Uint8Array): Generator<DocumentSpan> {
  const isJson = trimLeadingSpace(decodeUtf8LikeGo(bytes.subarray(0, maxJsonDetectionBytes))).startsWith('{')
  let at = 0
  if (isJson) {
    for (;;) {
      while (at < bytes.length && (bytes[at] as number) <= 0x20) at++
      if (bytes[at] !== OPEN_BRACE) break
      const end = findClosingBrace(bytes, at)
      yield { start: at, end }
      at = end
    }
  }
  if (at < bytes.length) yield* splitYamlChunks(bytes, at, 0, decodeUtf8LikeGo)
}

/** Returns the offset after the closing bracket, or the end of the file. */
function findClosingBrace(bytes: Uint8Array, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === DOUBLE_QUOTE) at = findClosingQuote(bytes, at)
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if ((byte === CLOSING_BRACE || byte === CLOSING_BRACKET) && --depth === 0) return at + 1
  }
  return bytes.length
}

/** Returns the offset of the closing quote, or the end of the file. */
function findClosingQuote(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== DOUBLE_QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
