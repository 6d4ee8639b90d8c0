// A scalar that stores its position and decodes its text lazily, because most text in a catalog is never used.
import type { StringValue } from '../tree.ts'
import { codeUnitByYamlEscapeLetter } from '../yaml/cursor.ts'
import { TextBuilder } from '../utf8.ts'
import { BACKSLASH, DASH, NEWLINE, PLUS, SPACE } from './byte-classes.ts'

const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const scalarTextBuilder = new TextBuilder()
const internTableSlotCount = 4096
const maxInternedStringBytes = 64

class StringInternTable {
  private readonly texts: (string | undefined)[] = Array.from(
    { length: internTableSlotCount },
    () => undefined,
  )

  intern(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start
    if (length > maxInternedStringBytes) return decodeUtf8(bytes, start, end)
    let hash = length
    for (let at = start; at < end; at++) hash = (hash << 5) ^ (hash >>> 27) ^ (bytes[at] as number)
    const slot = (hash ^ (hash >>> 13)) & (internTableSlotCount - 1)
    const known = this.texts[slot]
    if (known?.length === length && isAsciiTextEqualToBytes(known, bytes, start)) return known
    const text = decodeUtf8(bytes, start, end)
    // Only ASCII has as many bytes as characters, and only ASCII can be compared as above.
    if (text.length === length) this.texts[slot] = text
    return text
  }
}

// Shares repeated short texts: catalogs repeat a few hundred keys, names and types a hundred thousand times.

/** All readers share one table, because files repeat each other's texts. It never grows. */
export const sharedInternTable = new StringInternTable()

/** `verbatim` is quoted on one line without escapes; `json` is a JSON string that JSON.parse accepts. */
export const ScalarStyle = {
  plain: 0,
  folded: 1,
  verbatim: 2,
  single: 3,
  double: 4,
  literal: 5,
  json: 6,
  /** A plain scalar that is valid base64 of a text that begins with an opening brace. */
  base64OfJson: 7,
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

  static {
    // On the prototype, so that it costs nothing in each string.
    Object.defineProperty(this.prototype, 'kind', { value: 'string' })
  }

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
    return this.style !== ScalarStyle.plain && this.style !== ScalarStyle.folded && !this.isBase64OfJson
  }

  get isBase64OfJson(): boolean {
    return this.style === ScalarStyle.base64OfJson
  }

  get value(): string {
    const { bytes, start, end } = this
    switch (this.style & ((1 << scalarStyleBitCount) - 1)) {
      case ScalarStyle.plain:
      case ScalarStyle.base64OfJson:
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

function isAsciiTextEqualToBytes(text: string, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false
  }
  return true
}

/** Decodes the text of scalars that the fast reader found and verified: no invalid UTF-8, unknown escapes, tabs or odd line ends. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  return utf8Decoder.decode(bytes.subarray(start, end))
}

/** Joins the lines of a plain scalar without empty lines. */
function foldPlainScalar(text: string): string {
  return text.replace(/\n */g, ' ')
}

function decodeSingleQuotedScalar(text: string): string {
  return foldScalarLines(text).replaceAll("''", "'")
}

function decodeDoubleQuotedScalar(text: string): string {
  if (!text.includes('\\')) return foldScalarLines(text)
  const hasLines = text.includes('\n')
  scalarTextBuilder.clear()
  // Keeps spaces before an escaped line end, because the escape ends the line.
  const addPlain = (start: number, end: number): void => {
    if (hasLines) scalarTextBuilder.add(foldScalarLines(text.slice(start, end)))
    else scalarTextBuilder.add(text, start, end)
  }
  let plainStart = 0
  let at = 0
  for (;;) {
    while (at < text.length && text.charCodeAt(at) !== BACKSLASH) at++
    addPlain(plainStart, at)
    if (at >= text.length) return scalarTextBuilder.take()
    const code = text.charCodeAt(at + 1)
    if (code === NEWLINE) {
      plainStart = at + 2
      for (; text.charCodeAt(plainStart) === NEWLINE; plainStart++) scalarTextBuilder.addUnit(NEWLINE)
      while (text.charCodeAt(plainStart) === SPACE) plainStart++
    } else if (code === 0x78 || code === 0x75 || code === 0x55) {
      const digits = code === 0x78 ? 2 : code === 0x75 ? 4 : 8
      scalarTextBuilder.add(String.fromCodePoint(parseInt(text.slice(at + 2, at + 2 + digits), 16)))
      plainStart = at + 2 + digits
    } else {
      scalarTextBuilder.addUnit(codeUnitByYamlEscapeLetter[code] as number)
      plainStart = at + 2
    }
    at = plainStart
  }
}

/** Replaces one line end with a space, drops one of several, and removes leading spaces. */
function foldScalarLines(text: string): string {
  if (!text.includes('\n')) return text
  return text.replace(/\n+ */g, (breaks) => '\n'.repeat(countLineFeeds(breaks) - 1) || ' ')
}

function countLineFeeds(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/**
 * Decodes a literal block from its `|` to the end of its last line, each line indented by `indent` spaces. Chomping:
 * `-` drops the last line end, `+` keeps all, default keeps one.
 */
function decodeLiteralBlock(bytes: Uint8Array, start: number, end: number, indent: number): string {
  const headerEnd = bytes.indexOf(NEWLINE, start)
  const header = bytes.subarray(start + 1, headerEnd)
  // With its line end before it, every line is the same to the pattern.
  const lines = decodeUtf8(bytes, headerEnd, end)
  const text = lines.replace(new RegExp(`\\n {0,${indent}}`, 'g'), '\n').slice(1)
  if (header.includes(PLUS)) return text
  let last = text.length
  while (last > 0 && text.charCodeAt(last - 1) === NEWLINE) last--
  return header.includes(DASH) ? text.slice(0, last) : `${text.slice(0, last)}\n`
}
