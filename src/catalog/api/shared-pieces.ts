// JSON embedded as text in other JSON. opm's cache repeats each CSV twice per channel, so long parts are escaped once
// and shared.
import type { JsonPart, JsonParts } from '../../go/json/json-parts.ts'
import { marshalString } from '../../go/json/marshal.ts'
import type { Piece } from '../../go/tar/pieces.ts'

/** Large pieces are the same object wherever they occur. */
export type Pieces = readonly Piece[]

const encoder = new TextEncoder()
const quote = encoder.encode('"')

export class SharedPieces {
  private readonly ofJson = new Map<string, Uint8Array>()
  private readonly ofTexts = new Map<string, Uint8Array>()

  /** JSON as a JSON string. */
  quoted(parts: JsonParts): Pieces {
    return [quote, ...parts.map((part) => this.piece(part)), quote]
  }

  private piece(part: JsonPart): Uint8Array {
    if (typeof part === 'string') return escaped(part)
    return 'json' in part
      ? found(this.ofJson, part.json, escaped)
      : found(this.ofTexts, part.text, (text) => escaped(marshalString(text)))
  }
}

/** The inside of a JSON string. */
function escaped(json: string): Uint8Array {
  return encoder.encode(marshalString(json)).subarray(1, -1)
}

function found(known: Map<string, Uint8Array>, text: string, make: (text: string) => Uint8Array): Uint8Array {
  let bytes = known.get(text)
  if (!bytes) known.set(text, (bytes = make(text)))
  return bytes
}
