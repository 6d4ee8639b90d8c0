import { characterByEscapeLetter } from './letter-escapes.ts'
import { LF, SPACE, getHexDigitValue, isBlank, isBlankOrEnd, isLineBreak } from './characters.ts'
import { TextBuilder } from '../text-builder.ts'
import type { YamlCursor } from './cursor.ts'
import { createScannerError } from './yaml-error.ts'

const SINGLE_QUOTE = 0x27
const DOUBLE_QUOTE = 0x22
const BACKSLASH = 0x5c

/** Code units of one-letter escapes by letter; -1 for others. */
const codeUnitByEscapeLetter = new Int32Array(128).fill(-1)
for (const [letter, meaning] of Object.entries({ ...characterByEscapeLetter, '\t': '\t' }))
  codeUnitByEscapeLetter[letter.charCodeAt(0)] = meaning.charCodeAt(0)

const quotedScalarBuilder = new TextBuilder()

export function scanQuotedScalar(cursor: YamlCursor): string {
  const { text, size } = cursor
  const quote = cursor.peek()
  quotedScalarBuilder.clear()
  cursor.skip()
  for (;;) {
    cursor.need(4)
    if (cursor.column === 0 && cursor.atDocumentMarker()) {
      throw createScannerError('found unexpected document indicator', cursor)
    }
    if (cursor.index >= size) throw createScannerError('found unexpected end of stream', cursor)

    let newLine = false
    let pieceStart = cursor.index
    let at = pieceStart
    for (;;) {
      const c = at < size ? text.charCodeAt(at) : 0
      if (c === quote) {
        if (quote !== SINGLE_QUOTE || text.charCodeAt(at + 1) !== SINGLE_QUOTE) break
        quotedScalarBuilder.add(text, pieceStart, at + 1)
        at += 2
        pieceStart = at
      } else if (c === BACKSLASH && quote === DOUBLE_QUOTE) {
        quotedScalarBuilder.add(text, pieceStart, at)
        cursor.index = at
        newLine = isLineBreak(cursor.peek(1))
        if (newLine) {
          cursor.need(3)
          cursor.skip()
          cursor.readBreak()
        } else scanEscape(cursor)
        at = cursor.index
        pieceStart = at
        if (newLine) break
      } else if ((c <= SPACE || c >= 0x7f) && isBlankOrEnd(c)) {
        const next = c === SPACE ? findTextAfterWhitespace(cursor, at) : 0
        if (next === 0) break
        at = next
      } else at++
    }
    cursor.index = at
    cursor.need(2)
    if (cursor.peek() === quote) {
      if (quotedScalarBuilder.isEmpty) {
        cursor.skip()
        return text.slice(pieceStart, at)
      }
      quotedScalarBuilder.add(text, pieceStart, at)
      break
    }
    quotedScalarBuilder.add(text, pieceStart, at)
    scanWhitespaceAndLineBreaks(cursor, newLine)
  }
  cursor.skip()
  return quotedScalarBuilder.take()
}

/** Fast path: where text continues after whitespace on the same line; 0 if scanWhitespaceAndLineBreaks() must check. */
function findTextAfterWhitespace(cursor: YamlCursor, blank: number): number {
  const { text, size } = cursor
  let at = blank + 1
  while (text.charCodeAt(at) === SPACE) at++
  return at < size && at + 4 <= cursor.watched && !isBlankOrEnd(text.charCodeAt(at)) ? at : 0
}

/** Keeps whitespace inside quotes unless a line ends there, and folds breaks. */
function scanWhitespaceAndLineBreaks(cursor: YamlCursor, afterEscapedBreak: boolean): void {
  const start = cursor.index
  let newLine = afterEscapedBreak
  // A single line feed folds to a space. Of several line feeds, all but the first remain. LS and PS remain.
  let foldsToBlank = false
  for (;;) {
    const c = cursor.peek()
    if (isBlank(c)) cursor.skip()
    else if (isLineBreak(c)) {
      cursor.need(2)
      const lineBreak = cursor.readBreak()
      foldsToBlank = !newLine && lineBreak === LF
      if (!foldsToBlank) quotedScalarBuilder.addUnit(lineBreak)
      newLine = true
      const from = cursor.index
      cursor.skipLineFeeds()
      if (cursor.index > from) {
        quotedScalarBuilder.add(cursor.text, from, cursor.index)
        foldsToBlank = false
      }
    } else break
    cursor.need(1)
  }
  if (foldsToBlank) quotedScalarBuilder.addUnit(SPACE)
  else if (!newLine) quotedScalarBuilder.add(cursor.text, start, cursor.index)
}

function scanEscape(cursor: YamlCursor): void {
  const letter = cursor.peek(1)
  const meaning = letter < 128 ? (codeUnitByEscapeLetter[letter] as number) : -1
  if (meaning >= 0) {
    cursor.skip(2)
    quotedScalarBuilder.addUnit(meaning)
    return
  }
  const digits = letter === 0x78 ? 2 : letter === 0x75 ? 4 : letter === 0x55 ? 8 : 0
  if (digits === 0) throw createScannerError('found unknown escape character', cursor)
  cursor.skip(2)
  cursor.need(digits)
  let point = 0
  for (let at = 0; at < digits; at++) {
    const digit = getHexDigitValue(cursor.peek(at))
    if (digit < 0) throw createScannerError('did not find expected hexdecimal number', cursor)
    point = point * 16 + digit
  }
  if ((point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff) {
    throw createScannerError('found invalid Unicode character escape code', cursor)
  }
  cursor.skip(digits)
  if (point < 0x10000) quotedScalarBuilder.addUnit(point)
  else quotedScalarBuilder.add(String.fromCodePoint(point))
}
