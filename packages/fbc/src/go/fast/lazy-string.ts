// A scalar that stores its position and decodes its text lazily, because most catalog text is never used.
import type { StringValue } from '../tree.ts'
import {
  decodeUtf8,
  decodeDoubleQuotedScalar,
  foldPlainScalar,
  decodeLiteralBlock,
  decodeSingleQuotedScalar,
} from './scalar-text.ts'
import { sharedInternTable } from './string-intern-table.ts'

/** `verbatim` is quoted on one line without escapes; `json` is a JSON string that JSON.parse accepts. */
export const ScalarStyle = {
  plain: 0,
  folded: 1,
  verbatim: 2,
  single: 3,
  double: 4,
  literal: 5,
  json: 6,
} as const

const scalarStyleBitCount = 3

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
    this.style = style | (indent << scalarStyleBitCount)
  }

  get indent(): number {
    return this.style >> scalarStyleBitCount
  }

  get quoted(): boolean {
    return this.style !== ScalarStyle.plain && this.style !== ScalarStyle.folded
  }

  get value(): string {
    const { bytes, start, end } = this
    switch (this.style & ((1 << scalarStyleBitCount) - 1)) {
      case ScalarStyle.plain:
        return sharedInternTable.intern(bytes, start, end)
      case ScalarStyle.folded:
        return foldPlainScalar(decodeUtf8(bytes, start, end))
      case ScalarStyle.verbatim:
        return sharedInternTable.intern(bytes, start + 1, end - 1)
      case ScalarStyle.single:
        return decodeSingleQuotedScalar(decodeUtf8(bytes, start + 1, end - 1))
      case ScalarStyle.double:
        return decodeDoubleQuotedScalar(decodeUtf8(bytes, start + 1, end - 1))
      case ScalarStyle.json:
        // Go has no lone surrogates.
        return (JSON.parse(decodeUtf8(bytes, start, end)) as string).toWellFormed()
      default:
        return decodeLiteralBlock(bytes, start, end, this.indent)
    }
  }
}

// On the prototype, so that it costs nothing in each string.
Object.defineProperty(LazyString.prototype, 'kind', { value: 'string' })
