// Offsets in a document's text to lines and columns of its file.
import type { Mark } from './mark.ts'

/** Turns offsets into places; what an offset counts is the affair of the tree that it comes from. */
export interface Places {
  mark(offset: number): Mark
  /** The text at an offset, at most `length` of it. */
  textFrom(offset: number, length: number): string
}

/** A line is remembered where so many lines, or so much text, lie before it: a text can be nothing but lines. */
const mostLinesBetween = 64
const mostTextBetween = 4096

export class TextPlaces implements Places {
  private readonly text: string
  private readonly firstLine: number
  private readonly firstColumn: number
  /** The remembered lines, as far as somebody asked: where they begin, and their numbers from 0. */
  private readonly starts = [0]
  private readonly lines = [0]
  /** The line last asked for: facts are mostly asked for in the order of the text. */
  private line = 0
  private lineStart = 0
  /** Where the line behind it begins; -1 where nobody knows yet. */
  private nextStart = -1
  /** The last remembered line that is not behind it. */
  private at = 0

  /** `firstLine` and `firstColumn` are where the text begins in its file, from 1. */
  constructor(text: string, firstLine = 1, firstColumn = 1) {
    this.text = text
    this.firstLine = firstLine
    this.firstColumn = firstColumn
  }

  textFrom(offset: number, length: number): string {
    return this.text.slice(offset, offset + length)
  }

  mark(offset: number): Mark {
    if (offset < this.lineStart || offset >= (this.starts[this.at + 1] ?? Infinity)) this.goNear(offset)
    for (;;) {
      if (this.nextStart < 0) this.nextStart = this.findNext()
      if (offset < this.nextStart) break
      this.line++
      this.lineStart = this.nextStart
      this.nextStart = -1
      if (this.lines[this.at + 1] === this.line) this.at++
    }
    const { line, lineStart } = this
    const column = offset - lineStart + (line === 0 ? this.firstColumn : 1)
    return { line: this.firstLine + line, column }
  }

  /** Goes to the last remembered line that does not begin behind an offset. */
  private goNear(offset: number): void {
    const { starts } = this
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle
    }
    this.at = low
    this.line = this.lines[low] as number
    this.lineStart = starts[low] as number
    this.nextStart = -1
  }

  /** Where the line behind this one begins; Infinity behind the last. */
  private findNext(): number {
    const { at, line, lines, starts } = this
    if (lines[at + 1] === line + 1) return starts[at + 1] as number
    const next = nextLine(this.text, this.lineStart)
    const isFar =
      line + 1 - (lines[at] as number) >= mostLinesBetween || next - (starts[at] as number) >= mostTextBetween
    if (isFar && at + 1 === starts.length) {
      starts.push(next)
      lines.push(line + 1)
    }
    return next
  }
}

function nextLine(text: string, from: number): number {
  // Most lines are short, and a search costs as much as looking at some dozens of letters.
  const near = Math.min(from + 64, text.length)
  for (let at = from; at < near; at++) if (text.charCodeAt(at) === 0x0a) return at + 1
  const found = text.indexOf('\n', near)
  return found < 0 ? Infinity : found + 1
}
