// Scans literal (`|`) and folded (`>`) block scalars like go-yaml v2.
import { CR, LF, SPACE, TAB, isBlank, isLineBreak, isLineBreakOrEnd, isDigit } from './characters.ts'
import { TextBuilder } from '../text-builder.ts'
import type { YamlCursor } from './cursor.ts'
import { createScannerError } from './yaml-error.ts'

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
      if (trailingLineBreaks.isEmpty) blockScalarBuilder.addUnit(SPACE)
    } else if (leadingBreak !== 0) blockScalarBuilder.addUnit(leadingBreak)
    if (!trailingLineBreaks.isEmpty) blockScalarBuilder.add(trailingLineBreaks.take())
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
    if (!skipNextLineIndent(cursor, indent)) scanBlockScalarLineBreaks(cursor, indent, parentIndent)
  }
  if (chomping !== -1 && leadingBreak !== 0) blockScalarBuilder.addUnit(leadingBreak)
  if (chomping === 1) blockScalarBuilder.add(trailingLineBreaks.take())
  return { value: blockScalarBuilder.take(), end: trailingLineBreaksEnd }
}

/** The scalar so far, and the breaks after its last line, which may not belong to it. */
const blockScalarBuilder = new TextBuilder()
const trailingLineBreaks = new TextBuilder()
let trailingLineBreaksEnd = 0

/** Fast path: skips the next line's indentation if scanBlockScalarLineBreaks() would do nothing else. */
function skipNextLineIndent(cursor: YamlCursor, indent: number): boolean {
  const { text, index, size } = cursor
  const content = index + indent
  if (content >= size || content + 2 > cursor.watched || cursor.column !== 0) return false
  for (let at = index; at < content; at++) if (text.charCodeAt(at) !== SPACE) return false
  if (isLineBreak(text.charCodeAt(content))) return false
  cursor.index = content
  trailingLineBreaksEnd = index
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
  trailingLineBreaks.clear()
  let maxIndent = 0
  trailingLineBreaksEnd = cursor.index
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
    trailingLineBreaks.addUnit(cursor.readBreak())
    const { index } = cursor
    cursor.skipLineFeeds()
    if (cursor.index > index) trailingLineBreaks.add(cursor.text, index, cursor.index)
    trailingLineBreaksEnd = cursor.index
  }
  return indent === 0 ? Math.max(maxIndent, parentIndent + 1, 1) : indent
}
