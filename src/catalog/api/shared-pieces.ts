// JSON that stands as a text in other JSON, as bytes in pieces: opm's cache has each CSV twice in a file, in a file for every
// channel, and most of what it says in every version. What is long is escaped once, and is the same piece wherever it stands.
import type { JsonPart, JsonParts } from '../../go/json/json-parts.ts'
import { marshalString } from '../../go/json/marshal.ts'
import type { Piece } from '../../go/tar/pieces.ts'

/** A text in pieces. Those that are large are the same object wherever they occur. */
export type Pieces = readonly Piece[]

const encoder = new TextEncoder()
const quote = encoder.encode('"')

/** The long parts of one catalog, each once. */
export class SharedPieces {
  private readonly ofJson = new Map<string, Uint8Array>()
  private readonly ofTexts = new Map<string, Uint8Array>()

  /** JSON as a text of JSON. */
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

/** As the inside of a text in JSON. */
function escaped(json: string): Uint8Array {
  return encoder.encode(marshalString(json)).subarray(1, -1)
}

function found(known: Map<string, Uint8Array>, text: string, make: (text: string) => Uint8Array): Uint8Array {
  let bytes = known.get(text)
  if (!bytes) known.set(text, (bytes = make(text)))
  return bytes
}
