// A text scalar of the fast reader: where it stands, and its text when somebody asks. Most of a catalog's text
// (descriptions, examples, manifests) is never asked for.
import type { StringValue } from '../tree.ts'
import { decode, doubleQuoted, foldedPlain, literal, singleQuoted } from './scalar-text.ts'
import { texts } from './text-table.ts'

/**
 * How a scalar is written. `verbatim` is quoted, on one line, without anything to undo; `json` is in quotes of JSON, of
 * which the reader has seen that JSON.parse takes them.
 */
export const Style = { plain: 0, folded: 1, verbatim: 2, single: 3, double: 4, literal: 5, json: 6 } as const

const styleBits = 3

/** Kept small: a catalog has a hundred thousand of these. */
export class LazyString implements StringValue {
  declare readonly kind: 'string'
  readonly start: number
  readonly end: number
  private readonly bytes: Uint8Array
  /** The style, and above it the blanks in front of each line of a literal. */
  private readonly style: number

  constructor(bytes: Uint8Array, start: number, end: number, style: number, indent = 0) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.style = style | (indent << styleBits)
  }

  /** Blanks in front of each line of a literal. */
  get indent(): number {
    return this.style >> styleBits
  }

  get quoted(): boolean {
    return this.style !== Style.plain && this.style !== Style.folded
  }

  get value(): string {
    const { bytes, start, end } = this
    switch (this.style & ((1 << styleBits) - 1)) {
      case Style.plain:
        return texts.text(bytes, start, end)
      case Style.folded:
        return foldedPlain(decode(bytes, start, end))
      case Style.verbatim:
        return texts.text(bytes, start + 1, end - 1)
      case Style.single:
        return singleQuoted(decode(bytes, start + 1, end - 1))
      case Style.double:
        return doubleQuoted(decode(bytes, start + 1, end - 1))
      case Style.json:
        // Halves of surrogate pairs are none of Go's characters.
        return (JSON.parse(decode(bytes, start, end)) as string).toWellFormed()
      default:
        return literal(bytes, start, end, this.indent)
    }
  }
}

// On the prototype, so that it costs nothing in each string.
Object.defineProperty(LazyString.prototype, 'kind', { value: 'string' })
