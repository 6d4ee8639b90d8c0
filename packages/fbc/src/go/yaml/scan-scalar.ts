// Scans plain, quoted, literal (`|`), and folded (`>`) scalars like go-yaml v2.
import {
  type YamlCursor,
  CR,
  LF,
  SPACE,
  TAB,
  isBlank,
  isLineBreak,
  isLineBreakOrEnd,
  isDigit,
  isBlankOrEnd,
  createScannerError,
  getHexDigitValue,
  codeUnitByYamlEscapeLetter,
} from './cursor.ts'
import { TextBuilder } from '../utf8.ts'

const SINGLE_QUOTE = 0x27
const DOUBLE_QUOTE = 0x22
const BACKSLASH = 0x5c
const quotedScalarBuilder = new TextBuilder()

interface ScannedPlainScalar {
  readonly value: string
  /** Before trailing whitespace. */
  readonly end: number
  /** Whether it ended with a line break, so that a simple key may begin. */
  readonly endedLine: boolean
}

/** The scalar before its last line, and the breaks after it, which belong to it only if more text follows. */
const plainScalarBuilder = new TextBuilder()
const pendingLineBreakBuilder = new TextBuilder()

interface BlockScalarHeader {
  /** 1 keeps all final breaks, -1 keeps none, and 0 keeps the first. */
  readonly chomping: number
  /** Explicit indentation relative to the parent; 0 to detect it. */
  readonly increment: number
}

/** `parentIndent` is the enclosing block's column, -1 at the root. */
export function scanBlockScalar(cursor: YamlCursor, parentIndent: number): { value: string; end: number } {
  const { text, size } = cursor
  const literal = cursor.peek() === 0x7c
  cursor.skip()
  const { chomping, increment } = scanBlockScalarHeader(cursor)

  blockScalarBuilder.clear()
  const stated = increment > 0 ? Math.max(parentIndent, 0) + increment : 0
  const indent = scanBlockScalarLineBreaks(cursor, stated, parentIndent)
  let leadingBreak = 0
  let leadingBlank = false
  cursor.need(1)
  while (cursor.column === indent && cursor.index < size) {
    const blank = isBlank(cursor.peek())
    // A break between two text lines folds to a space, or disappears before empty lines.
    if (!literal && !leadingBlank && !blank && leadingBreak === LF) {
      if (trailingLineBreakBuilder.isEmpty) blockScalarBuilder.addUnit(SPACE)
    } else if (leadingBreak !== 0) blockScalarBuilder.addUnit(leadingBreak)
    if (!trailingLineBreakBuilder.isEmpty) blockScalarBuilder.add(trailingLineBreakBuilder.take())
    leadingBlank = blank
    let at = cursor.index
    for (; at < size; at++) {
      const c = text.charCodeAt(at)
      if ((c <= CR || c >= 0x7f) && isLineBreakOrEnd(c)) break
    }
    blockScalarBuilder.add(text, cursor.index, at)
    cursor.index = at
    cursor.need(2)
    leadingBreak = cursor.readBreak()
    if (!trySkipNextLineIndent(cursor, indent)) scanBlockScalarLineBreaks(cursor, indent, parentIndent)
  }
  if (chomping !== -1 && leadingBreak !== 0) blockScalarBuilder.addUnit(leadingBreak)
  if (chomping === 1) blockScalarBuilder.add(trailingLineBreakBuilder.take())
  return { value: blockScalarBuilder.take(), end: trailingLineBreaksEndIndex }
}

/** The scalar so far, and the breaks after its last line, which may not belong to it. */
const blockScalarBuilder = new TextBuilder()
const trailingLineBreakBuilder = new TextBuilder()
let trailingLineBreaksEndIndex = 0

/** Fast path: skips the next line's indentation if scanBlockScalarLineBreaks() would do nothing else. */
function trySkipNextLineIndent(cursor: YamlCursor, indent: number): boolean {
  const { text, index, size } = cursor
  const content = index + indent
  if (content >= size || content + 2 > cursor.watched || cursor.column !== 0) return false
  for (let at = index; at < content; at++) if (text.charCodeAt(at) !== SPACE) return false
  if (isLineBreak(text.charCodeAt(content))) return false
  cursor.index = content
  trailingLineBreaksEndIndex = index
  return true
}

function scanBlockScalarHeader(cursor: YamlCursor): BlockScalarHeader {
  let chomping = 0
  let increment = 0
  cursor.need(1)
  const readChomping = (): void => {
    const c = cursor.peek()
    if (c !== 0x2b && c !== 0x2d) return
    chomping = c === 0x2b ? 1 : -1
    cursor.skip()
    cursor.need(1)
  }
  readChomping()
  if (isDigit(cursor.peek())) {
    increment = cursor.peek() - 0x30
    if (increment === 0) throw createScannerError('found an indentation indicator equal to 0', cursor)
    cursor.skip()
    cursor.need(1)
    if (chomping === 0) readChomping()
  }
  while (isBlank(cursor.peek())) {
    cursor.skip()
    cursor.need(1)
  }
  if (cursor.peek() === 0x23) {
    while (!isLineBreakOrEnd(cursor.peek())) {
      cursor.skip()
      cursor.need(1)
    }
  }
  if (!isLineBreakOrEnd(cursor.peek())) {
    throw createScannerError('did not find expected comment or line break', cursor)
  }
  cursor.need(2)
  cursor.readBreak()
  return { chomping, increment }
}

/**
 * Skips indentation and empty lines and records their breaks. Returns the indentation; if `indent` is 0, detects it as
 * the deepest one or the parent's + 1.
 */
function scanBlockScalarLineBreaks(cursor: YamlCursor, indent: number, parentIndent: number): number {
  trailingLineBreakBuilder.clear()
  let maxIndent = 0
  trailingLineBreaksEndIndex = cursor.index
  for (;;) {
    cursor.need(1)
    while ((indent === 0 || cursor.column < indent) && cursor.peek() === SPACE) {
      cursor.skip()
      cursor.need(1)
    }
    maxIndent = Math.max(maxIndent, cursor.column)
    const c = cursor.peek()
    if ((indent === 0 || cursor.column < indent) && c === TAB) {
      throw createScannerError('found a tab character where an indentation space is expected', cursor)
    }
    if (!isLineBreak(c)) break
    cursor.need(2)
    trailingLineBreakBuilder.addUnit(cursor.readBreak())
    const { index } = cursor
    cursor.skipLineFeeds()
    if (cursor.index > index) trailingLineBreakBuilder.add(cursor.text, index, cursor.index)
    trailingLineBreaksEndIndex = cursor.index
  }
  return indent === 0 ? Math.max(maxIndent, parentIndent + 1, 1) : indent
}

/** The cursor is on the first character. `indent` is the enclosing block's column. */
export function scanPlainScalar(cursor: YamlCursor, indent: number, inFlow: boolean): ScannedPlainScalar {
  const { text, size } = cursor
  plainScalarBuilder.clear()
  let pieceStart = cursor.index
  let pieceEnd = cursor.index
  let firstBreak = 0
  let newLine = false

  for (;;) {
    cursor.need(4)
    if (cursor.column === 0 && cursor.atDocumentMarker()) break
    if (cursor.peek() === 0x23) break

    let at = cursor.index
    for (; at < size; at++) {
      const c = text.charCodeAt(at)
      if ((c <= SPACE || c >= 0x7f) && isBlankOrEnd(c)) {
        const next = c === SPACE ? findPlainTextAfterWhitespace(cursor, at, inFlow) : 0
        if (next === 0) break
        at = next
        continue
      }
      if (c === 0x3a && isBlankOrEnd(at + 1 < size ? text.charCodeAt(at + 1) : 0)) break
      if (inFlow && isFlowScalarTerminator(c)) break
    }
    if (at > cursor.index) {
      if (newLine) {
        plainScalarBuilder.add(text, pieceStart, pieceEnd)
        // A single line feed folds to a space. Of several line feeds, all but the first remain. LS and PS remain.
        if (firstBreak !== LF) plainScalarBuilder.addUnit(firstBreak)
        else if (pendingLineBreakBuilder.isEmpty) plainScalarBuilder.addUnit(SPACE)
        if (!pendingLineBreakBuilder.isEmpty) plainScalarBuilder.add(pendingLineBreakBuilder.take())
        pieceStart = cursor.index
        newLine = false
      }
      cursor.index = at
      pieceEnd = at
    }
    cursor.need(2)

    const next = cursor.peek()
    if (!isBlank(next) && !isLineBreak(next)) break
    for (;;) {
      const c = cursor.peek()
      if (isBlank(c)) {
        if (newLine && c === TAB && cursor.column < indent + 1) {
          throw createScannerError('found a tab character that violates indentation', cursor)
        }
        cursor.skip()
      } else if (isLineBreak(c)) {
        cursor.need(2)
        if (newLine) pendingLineBreakBuilder.addUnit(cursor.readBreak())
        else {
          firstBreak = cursor.readBreak()
          pendingLineBreakBuilder.clear()
          newLine = true
        }
        const from = cursor.index
        cursor.skipLineFeeds()
        if (cursor.index > from) pendingLineBreakBuilder.add(text, from, cursor.index)
      } else break
      cursor.need(1)
    }
    if (!inFlow && cursor.column < indent + 1) break
  }
  if (plainScalarBuilder.isEmpty)
    return { value: text.slice(pieceStart, pieceEnd), end: pieceEnd, endedLine: newLine }
  plainScalarBuilder.add(text, pieceStart, pieceEnd)
  return { value: plainScalarBuilder.take(), end: pieceEnd, endedLine: newLine }
}

/** Fast path: where text certainly continues after whitespace on the same line, or 0. */
function findPlainTextAfterWhitespace(cursor: YamlCursor, blank: number, inFlow: boolean): number {
  const { text, size } = cursor
  let at = blank + 1
  while (text.charCodeAt(at) === SPACE) at++
  if (at >= size || at + 4 > cursor.watched) return 0
  const c = text.charCodeAt(at)
  return isBlankOrEnd(c) || c === 0x3a || c === 0x23 || (inFlow && isFlowScalarTerminator(c)) ? 0 : at - 1
}

function isFlowScalarTerminator(c: number): boolean {
  return c === 0x2c || c === 0x3f || c === 0x5b || c === 0x5d || c === 0x7b || c === 0x7d
}

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
        const next = c === SPACE ? findQuotedTextAfterWhitespace(cursor, at) : 0
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
function findQuotedTextAfterWhitespace(cursor: YamlCursor, blank: number): number {
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
  const meaning = letter < 128 ? (codeUnitByYamlEscapeLetter[letter] as number) : -1
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
