// Scans and folds plain (unquoted) scalars like go-yaml v2.
import { LF, SPACE, TAB, isBlank, isBlankOrEnd, isLineBreak } from './characters.ts'
import { TextBuilder } from '../text-builder.ts'
import type { YamlCursor } from './cursor.ts'
import { createScannerError } from './yaml-error.ts'

export interface ScannedPlainScalar {
  readonly value: string
  /** Before trailing whitespace. */
  readonly end: number
  /** Whether it ended with a line break, so that a simple key may begin. */
  readonly endedLine: boolean
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
        const next = c === SPACE ? findTextAfterWhitespace(cursor, at, inFlow) : 0
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
        else if (pendingLineBreaks.isEmpty) plainScalarBuilder.addUnit(SPACE)
        if (!pendingLineBreaks.isEmpty) plainScalarBuilder.add(pendingLineBreaks.take())
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
        if (newLine) pendingLineBreaks.addUnit(cursor.readBreak())
        else {
          firstBreak = cursor.readBreak()
          pendingLineBreaks.clear()
          newLine = true
        }
        const from = cursor.index
        cursor.skipLineFeeds()
        if (cursor.index > from) pendingLineBreaks.add(text, from, cursor.index)
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

/** The scalar before its last line, and the breaks after it, which belong to it only if more text follows. */
const plainScalarBuilder = new TextBuilder()
const pendingLineBreaks = new TextBuilder()

/** Fast path: where text certainly continues after whitespace on the same line, or 0. */
function findTextAfterWhitespace(cursor: YamlCursor, blank: number, inFlow: boolean): number {
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
