// Scanning of single- and double-quoted scalars in go-yaml v2's dialect.
import { SPACE, TAB, hexValue, isBlank, isBlankOrEnd, isBreak } from './characters.ts'
import type { Cursor } from './cursor.ts'
import { foldedBreaks } from './plain-scalar.ts'
import { scannerError } from './yaml-error.ts'

const SINGLE = 0x27
const DOUBLE = 0x22
const BACKSLASH = 0x5c

/** One-letter escapes. JSON's `\/` is not among them. */
const escapes: ReadonlyMap<number, string> = new Map(
  Object.entries({
    '0': '\0',
    a: '\x07',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\x1b',
    ' ': ' ',
    '"': '"',
    "'": "'",
    '\\': '\\',
    N: '\x85',
    _: '\xa0',
    L: '\u2028',
    P: '\u2029',
  }).map(([letter, meaning]) => [letter.charCodeAt(0), meaning]),
)

/** Scans from the opening quote to behind the closing one. */
export function scanQuotedScalar(cursor: Cursor): string {
  const { text, size } = cursor
  const quote = cursor.peek()
  let value = ''
  cursor.skip()
  for (;;) {
    cursor.need(4)
    if (cursor.column === 0 && cursor.atDocumentMarker()) {
      throw scannerError('found unexpected document indicator', cursor)
    }
    if (cursor.index >= size) throw scannerError('found unexpected end of stream', cursor)

    let newLine = false
    let pieceStart = cursor.index
    for (;;) {
      const c = cursor.peek()
      if (c <= SPACE || c >= 0x7f ? isBlankOrEnd(c) : false) break
      if (c === quote) {
        if (quote !== SINGLE || cursor.peek(1) !== SINGLE) break
        value += text.slice(pieceStart, cursor.index + 1)
        cursor.skip(2)
        pieceStart = cursor.index
      } else if (c === BACKSLASH && quote === DOUBLE) {
        value += text.slice(pieceStart, cursor.index)
        newLine = isBreak(cursor.peek(1))
        if (newLine) {
          cursor.need(3)
          cursor.skip()
          cursor.readBreak()
        } else value += scanEscape(cursor)
        pieceStart = cursor.index
        if (newLine) break
      } else cursor.skip()
    }
    value += text.slice(pieceStart, cursor.index)
    cursor.need(2)
    if (cursor.peek() === quote) break
    value += scanGap(cursor, newLine)
  }
  cursor.skip()
  return value
}

/** Blanks and line breaks inside quotes: blanks are kept unless a line ends there; breaks fold. */
function scanGap(cursor: Cursor, afterEscapedBreak: boolean): string {
  let newLine = afterEscapedBreak
  let blanks = ''
  let firstBreak = ''
  let moreBreaks = ''
  for (;;) {
    const c = cursor.peek()
    if (isBlank(c)) {
      if (!newLine) blanks += c === TAB ? '\t' : ' '
      cursor.skip()
    } else if (isBreak(c)) {
      cursor.need(2)
      if (newLine) moreBreaks += cursor.readBreak()
      else {
        firstBreak = cursor.readBreak()
        newLine = true
      }
    } else break
    cursor.need(1)
  }
  return newLine ? foldedBreaks(firstBreak, moreBreaks) : blanks
}

/** An escape from its backslash on; the cursor ends behind it. */
function scanEscape(cursor: Cursor): string {
  const letter = cursor.peek(1)
  const meaning = escapes.get(letter)
  if (meaning !== undefined) {
    cursor.skip(2)
    return meaning
  }
  const digits = letter === 0x78 ? 2 : letter === 0x75 ? 4 : letter === 0x55 ? 8 : 0
  if (digits === 0) throw scannerError('found unknown escape character', cursor)
  cursor.skip(2)
  cursor.need(digits)
  let point = 0
  for (let at = 0; at < digits; at++) {
    const digit = hexValue(cursor.peek(at))
    if (digit < 0) throw scannerError('did not find expected hexdecimal number', cursor)
    point = point * 16 + digit
  }
  if ((point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff) {
    throw scannerError('found invalid Unicode character escape code', cursor)
  }
  cursor.skip(digits)
  return String.fromCodePoint(point)
}
