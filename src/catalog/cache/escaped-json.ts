// JSON that stands as a text in other JSON, as bytes in pieces: the cache has each CSV twice in a file, in a file for every
// channel, and most of what it says in every version. What is long is escaped once, and is the same piece wherever it stands.
import { marshalString } from '../../go/json/marshal.ts'

/** Shorter texts are escaped as fast as they are looked up. */
const long = 256

const encoder = new TextEncoder()

/** JSON as the inside of a text in JSON. Whatever HTML could be in it is escaped already. */
export function escapedAgain(json: string): Uint8Array {
  return encoder.encode(JSON.stringify(json)).subarray(1, -1)
}

/** The long texts of one catalog, each once. */
export class LongTexts {
  private readonly ofJson = new Map<string, Uint8Array>()
  private readonly ofStrings = new Map<string, Uint8Array>()

  json(json: string): Uint8Array {
    return found(this.ofJson, json, escapedAgain)
  }

  string(text: string): Uint8Array {
    return found(this.ofStrings, text, (plain) => escapedAgain(marshalString(plain)))
  }
}

function found(known: Map<string, Uint8Array>, text: string, make: (text: string) => Uint8Array): Uint8Array {
  let bytes = known.get(text)
  if (!bytes) known.set(text, (bytes = make(text)))
  return bytes
}

/** Puts a document together, with the commas where they belong. */
export class EscapedJson {
  private readonly texts: LongTexts
  private readonly pieces: Uint8Array[] = []
  private pending = ''
  private separator = ''

  constructor(texts: LongTexts) {
    this.texts = texts
  }

  open(bracket: '{' | '['): void {
    this.pending += this.separator + bracket
    this.separator = ''
  }

  close(bracket: '}' | ']'): void {
    this.pending += bracket
    this.separator = ','
  }

  /** A field of the object that is open, which whoever calls next gives a value; the key is plain ASCII or written already. */
  key(json: string): void {
    this.pending += `${this.separator}${json}:`
    this.separator = ''
  }

  /** A field with JSON that is written already; none where it is undefined. */
  field(name: string, json: string | undefined): void {
    if (json === undefined) return
    this.key(`"${name}"`)
    if (json.length < long) this.pending += json
    else this.share(this.texts.json(json))
    this.separator = ','
  }

  string(text: string): void {
    this.pending += this.separator
    if (text.length < long) this.pending += marshalString(text)
    else this.share(this.texts.string(text))
    this.separator = ','
  }

  /** A piece that is escaped already, and brings its own comma. */
  share(piece: Uint8Array): void {
    if (this.pending !== '') this.pieces.push(escapedAgain(this.pending))
    this.pending = ''
    if (piece.length > 0) this.pieces.push(piece)
  }

  done(): readonly Uint8Array[] {
    this.share(new Uint8Array(0))
    return this.pieces
  }
}
