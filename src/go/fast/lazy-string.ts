// A scalar that stores its position and decodes its text on demand, because most catalog text is never used.
import type { StringValue } from '../tree.ts'
import { decode, doubleQuoted, foldedPlain, literal, singleQuoted } from './scalar-text.ts'
import { texts } from './text-table.ts'

/** `verbatim` is quoted on one line without escapes; `json` is a JSON string that JSON.parse accepts. */
export const Style = { plain: 0, folded: 1, verbatim: 2, single: 3, double: 4, literal: 5, json: 6 } as const

const styleBits = 3

/** Kept small, because a catalog has a hundred thousand of these. */
export class LazyString implements StringValue {
  declare readonly kind: 'string'
  readonly start: number
  readonly end: number
  private readonly bytes: Uint8Array
  /** The style in the low bits, the indentation of a literal above them. */
  private readonly style: number

  constructor(bytes: Uint8Array, start: number, end: number, style: number, indent = 0) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.style = style | (indent << styleBits)
  }

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
        // Go has no lone surrogates.
        return (JSON.parse(decode(bytes, start, end)) as string).toWellFormed()
      default:
        return literal(bytes, start, end, this.indent)
    }
  }
}

// On the prototype, so that it costs nothing in each string.
Object.defineProperty(LazyString.prototype, 'kind', { value: 'string' })
