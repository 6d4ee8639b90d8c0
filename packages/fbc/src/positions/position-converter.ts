// Converts positions to byte offsets and back in one pass over a file of any size, with lines of any length.
import type { TextPosition } from '../go/text-position.ts'
import { getUtf8CharacterLength, decodeLikeGo } from '../go/utf8.ts'

/** The number of bytes of a line to search for an end. */
const maxScannedBytes = 4096

/** Queries must be in ascending order. */
export class PositionConverter {
  private readonly bytes: Uint8Array
  private line = 1
  private lineStart = 0
  private lineEnd: number
  private column = 1
  private at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.lineEnd = this.endFrom(0)
  }

  private endFrom(start: number): number {
    const end = this.bytes.indexOf(0x0a, start)
    return end < 0 ? this.bytes.length : end
  }

  /** Returns undefined if the position doesn't exist. */
  byteAt({ line, column }: TextPosition): number | undefined {
    const { bytes } = this
    while (this.line < line) {
      if (this.lineEnd === bytes.length) return undefined
      this.nextLine()
    }
    while (this.column < column) {
      if (this.at >= this.lineEnd) return undefined
      this.nextCharacter()
    }
    return this.at
  }

  markOf(byte: number): TextPosition {
    while (this.lineEnd < byte) this.nextLine()
    while (this.at < byte) this.nextCharacter()
    return { line: this.line, column: this.column }
  }

  private nextLine(): void {
    this.line++
    this.lineStart = this.at = this.lineEnd + 1
    this.lineEnd = this.endFrom(this.at)
    this.column = 1
  }

  private nextCharacter(): void {
    const width = getUtf8CharacterLength(this.bytes, this.at)
    this.at += Math.max(1, width)
    this.column += width === 4 ? 2 : 1
  }

  /**
   * The length in UTF-16 units of the quoted string, bracket, or plain value at a position. 0 if the position doesn't
   * exist.
   */
  lengthAt(position: TextPosition): number {
    const { bytes } = this
    if (this.byteAt(position) === undefined) return 0
    const stop = Math.min(this.lineEnd, this.at + maxScannedBytes)
    let before = this.at - 1
    while (before >= this.lineStart && bytes[before] === 0x20) before--
    return computeValueLength(
      decodeLikeGo(bytes.subarray(this.at, stop)),
      before < this.lineStart ? '' : String.fromCharCode(bytes[before] as number),
    )
  }
}

/** `before` is the last non-blank character before the text. */
function computeValueLength(text: string, before: string): number {
  const whole = text.trimEnd().length
  const [first = ''] = text
  if (first === '"' || first === "'") return findEndOfQuotedString(text, 0) ?? whole
  if (first === '{' || first === '[') return findEndOfBracket(text) ?? whole
  // Inside brackets, commas and brackets end a plain value.
  const end = '{[,'.includes(before) && before !== '' ? /[,\]}]|:\s|\s#/ : /\s#/
  const found = end.exec(text)?.index
  return found === undefined ? whole : text.slice(0, found).trimEnd().length
}

/** Returns the offset after the closing quote, or undefined if the quote isn't closed here. */
function findEndOfQuotedString(text: string, start: number): number | undefined {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === quote) at++
      else return at + 1
    }
  }
  return undefined
}

function findEndOfBracket(text: string): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = findEndOfQuotedString(text, at)
      if (end === undefined) return undefined
      at = end - 1
    } else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return undefined
}
