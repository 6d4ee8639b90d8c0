// Scanning of literal (`|`) and folded (`>`) block scalars in go-yaml v2's dialect.
import { CR, LF, SPACE, TAB, isBlank, isBreak, isBreakOrEnd, isDigit } from './characters.ts'
import { TextBuilder } from '../text-builder.ts'
import type { Cursor } from './cursor.ts'
import { scannerError } from './yaml-error.ts'

interface Header {
  /** 1 keeps all breaks at the end, -1 none, 0 the first. */
  readonly chomping: number
  /** The stated indentation beyond the parent's, 0 where it is to be found out. */
  readonly increment: number
}

/** Scans from the indicator on. `parentIndent` is the enclosing block's column, -1 at the root. */
export function scanBlockScalar(cursor: Cursor, parentIndent: number): { value: string; end: number } {
  const { text, size } = cursor
  const literal = cursor.peek() === 0x7c
  cursor.skip()
  const { chomping, increment } = scanHeader(cursor)

  built.clear()
  const stated = increment > 0 ? Math.max(parentIndent, 0) + increment : 0
  const indent = scanBreaks(cursor, stated, parentIndent)
  // The line break behind the last line, 0 before the first.
  let leadingBreak = 0
  let leadingBlank = false
  cursor.need(1)
  while (cursor.column === indent && cursor.index < size) {
    const blank = isBlank(cursor.peek())
    // A folded line break between two lines that begin with text becomes a blank, or vanishes before empty lines.
    if (!literal && !leadingBlank && !blank && leadingBreak === LF) {
      if (gap.isEmpty) built.addUnit(SPACE)
    } else if (leadingBreak !== 0) built.addUnit(leadingBreak)
    if (!gap.isEmpty) built.add(gap.take())
    leadingBlank = blank
    let at = cursor.index
    for (; at < size; at++) {
      const c = text.charCodeAt(at)
      if ((c <= CR || c >= 0x7f) && isBreakOrEnd(c)) break
    }
    built.add(text, cursor.index, at)
    cursor.index = at
    cursor.need(2)
    leadingBreak = cursor.readBreak()
    if (!atNextLine(cursor, indent)) scanBreaks(cursor, indent, parentIndent)
  }
  if (chomping !== -1 && leadingBreak !== 0) built.addUnit(leadingBreak)
  if (chomping === 1) built.add(gap.take())
  return { value: built.take(), end: gapEnd }
}

/** The scalar so far, and the breaks behind its last line, which may or may not become part of it. */
const built = new TextBuilder()
const gap = new TextBuilder()
let gapEnd = 0

/** Passes the indentation of the next line where that is all that scanBreaks() would do. */
function atNextLine(cursor: Cursor, indent: number): boolean {
  const { text, index, size } = cursor
  const content = index + indent
  if (content >= size || content + 2 > cursor.watched || cursor.column !== 0) return false
  for (let at = index; at < content; at++) if (text.charCodeAt(at) !== SPACE) return false
  if (isBreak(text.charCodeAt(content))) return false
  cursor.index = content
  gapEnd = index
  return true
}

function scanHeader(cursor: Cursor): Header {
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
    if (increment === 0) throw scannerError('found an indentation indicator equal to 0', cursor)
    cursor.skip()
    cursor.need(1)
    if (chomping === 0) readChomping()
  }
  while (isBlank(cursor.peek())) {
    cursor.skip()
    cursor.need(1)
  }
  if (cursor.peek() === 0x23) {
    while (!isBreakOrEnd(cursor.peek())) {
      cursor.skip()
      cursor.need(1)
    }
  }
  if (!isBreakOrEnd(cursor.peek())) {
    throw scannerError('did not find expected comment or line break', cursor)
  }
  cursor.need(2)
  cursor.readBreak()
  return { chomping, increment }
}

/**
 * Passes indentation and empty lines; notes their breaks, and where the last of them ends. Returns the indentation:
 * where `indent` is 0 it is found out, the deepest of them or the parent's + 1.
 */
function scanBreaks(cursor: Cursor, indent: number, parentIndent: number): number {
  gap.clear()
  let deepest = 0
  gapEnd = cursor.index
  for (;;) {
    cursor.need(1)
    while ((indent === 0 || cursor.column < indent) && cursor.peek() === SPACE) {
      cursor.skip()
      cursor.need(1)
    }
    deepest = Math.max(deepest, cursor.column)
    const c = cursor.peek()
    if ((indent === 0 || cursor.column < indent) && c === TAB) {
      throw scannerError('found a tab character where an indentation space is expected', cursor)
    }
    if (!isBreak(c)) break
    cursor.need(2)
    gap.addUnit(cursor.readBreak())
    const { index } = cursor
    cursor.skipLineFeeds()
    if (cursor.index > index) gap.add(cursor.text, index, cursor.index)
    gapEnd = cursor.index
  }
  return indent === 0 ? Math.max(deepest, parentIndent + 1, 1) : indent
}
