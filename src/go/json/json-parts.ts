// JSON in parts, of which long ones stand by themselves: what several documents say is the same part in each, so that
// whoever writes them all has to escape and to compress it once.
import { marshalString } from './marshal.ts'

/** JSON as it goes on; or a whole value that is long, as JSON or as a text that is not in quotes yet. */
export type JsonPart = string | { readonly json: string } | { readonly text: string }
export type JsonParts = readonly JsonPart[]

/** Shorter values are written as fast as they are looked up. */
const long = 256

export function joinedParts(parts: JsonParts): string {
  return parts.map(partText).join('')
}

function partText(part: JsonPart): string {
  if (typeof part === 'string') return part
  return 'json' in part ? part.json : marshalString(part.text)
}

/** Puts a document together, with the commas where they belong. */
export class JsonPartsWriter {
  private readonly parts: JsonPart[] = []
  private pending = ''
  private separator = ''

  open(bracket: '{' | '['): void {
    this.pending += this.separator + bracket
    this.separator = ''
  }

  close(bracket: '}' | ']'): void {
    this.pending += bracket
    this.separator = ','
  }

  /** A field of the object that is open, which whoever calls next gives a value. */
  key(name: string): void {
    this.pending += `${this.separator}${marshalString(name)}:`
    this.separator = ''
  }

  /** A field with JSON that is written already; none where it is undefined. */
  field(name: string, json: string | undefined): void {
    if (json === undefined) return
    this.key(name)
    if (json.length < long) this.pending += json
    else this.add({ json })
    this.separator = ','
  }

  string(text: string): void {
    this.pending += this.separator
    if (text.length < long) this.pending += marshalString(text)
    else this.add({ text })
    this.separator = ','
  }

  done(): JsonParts {
    return this.pending === '' ? this.parts : [...this.parts, this.pending]
  }

  private add(part: JsonPart): void {
    this.parts.push(this.pending, part)
    this.pending = ''
  }
}
