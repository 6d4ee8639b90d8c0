// Scanning of literal (`|`) and folded (`>`) block scalars in go-yaml v2's dialect.
import { LF, SPACE, TAB, isBlank, isBreak, isBreakOrEnd, isDigit } from './characters.ts'
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

  const stated = increment > 0 ? Math.max(parentIndent, 0) + increment : 0
  let gap = scanBreaks(cursor, stated, parentIndent)
  const indent = gap.indent
  const pieces: string[] = []
  let leadingBreak = ''
  let leadingBlank = false
  let end = gap.end
  cursor.need(1)
  while (cursor.column === indent && cursor.index < size) {
    const blank = isBlank(cursor.peek())
    // A folded line break between two lines that begin with text becomes a blank, or vanishes before empty lines.
    if (!literal && !leadingBlank && !blank && leadingBreak.charCodeAt(0) === LF) {
      if (gap.breaks === '') pieces.push(' ')
    } else pieces.push(leadingBreak)
    pieces.push(gap.breaks)
    leadingBlank = blank
    let at = cursor.index
    while (at < size && !isBreakOrEnd(text.charCodeAt(at))) at++
    pieces.push(text.slice(cursor.index, at))
    cursor.index = at
    cursor.need(2)
    leadingBreak = cursor.readBreak()
    gap = scanBreaks(cursor, indent, parentIndent)
    end = gap.end
  }
  if (chomping !== -1) pieces.push(leadingBreak)
  if (chomping === 1) pieces.push(gap.breaks)
  return { value: pieces.join(''), end }
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

/** Passes indentation and empty lines. Where `indent` is 0 it is found out: the deepest of them, or the parent's + 1. */
function scanBreaks(
  cursor: Cursor,
  indent: number,
  parentIndent: number,
): { breaks: string; indent: number; end: number } {
  let breaks = ''
  let deepest = 0
  let end = cursor.index
  for (;;) {
    cursor.need(1)
    while ((indent === 0 || cursor.column < indent) && cursor.peek() === SPACE) {
      cursor.skip()
      cursor.need(1)
    }
    deepest = Math.max(deepest, cursor.column)
    if ((indent === 0 || cursor.column < indent) && cursor.peek() === TAB) {
      throw scannerError('found a tab character where an indentation space is expected', cursor)
    }
    if (!isBreak(cursor.peek())) break
    cursor.need(2)
    breaks += cursor.readBreak()
    end = cursor.index
  }
  return { breaks, indent: indent === 0 ? Math.max(deepest, parentIndent + 1, 1) : indent, end }
}
