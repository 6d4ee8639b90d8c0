// JSON embedded as text in other JSON. opm's cache repeats each CSV twice per channel, so long parts are escaped once
// and shared.
import type { JsonChunk, JsonChunkTree } from '../go/json/json-parts.ts'
import { marshalString } from '../go/json/marshal.ts'
import type { ByteChunkTree } from '../go/tar/byte-pieces.ts'

/** A large piece is the same object in every place where it occurs. */
export type JsonChunks = readonly ByteChunkTree[]

const utf8Encoder = new TextEncoder()
const doubleQuoteBytes = utf8Encoder.encode('"')

export class EscapedJsonCache {
  private readonly ofJson = new Map<string, Uint8Array>()
  private readonly ofTexts = new Map<string, Uint8Array>()

  /** JSON as a JSON string. */
  quoted(parts: JsonChunkTree): JsonChunks {
    return [doubleQuoteBytes, ...parts.map((part) => this.piece(part)), doubleQuoteBytes]
  }

  private piece(part: JsonChunk): Uint8Array {
    if (typeof part === 'string') return escapeJson(part)
    return 'json' in part
      ? getOrCreateCachedBytes(this.ofJson, part.json, escapeJson)
      : getOrCreateCachedBytes(this.ofTexts, part.text, (text) => escapeJson(marshalString(text)))
  }
}

/** The content of a JSON string, without its quotes. */
function escapeJson(json: string): Uint8Array {
  return utf8Encoder.encode(marshalString(json)).subarray(1, -1)
}

function getOrCreateCachedBytes(
  known: Map<string, Uint8Array>,
  text: string,
  make: (text: string) => Uint8Array,
): Uint8Array {
  let bytes = known.get(text)
  if (!bytes) known.set(text, (bytes = make(text)))
  return bytes
}
