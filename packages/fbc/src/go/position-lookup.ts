/** Lines and columns start at 1. The context determines the file. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** Converts offsets to positions. The tree defines the unit of its offsets. */
export interface PositionLookup {
  positionAt(offset: number): TextPosition
  textFrom(offset: number, length: number): string
}

/** Remembers a line after this many lines or this much text, because a text can consist of line breaks only. */
const maxLinesBetweenCachedLineStarts = 64
const maxCharsBetweenCachedLineStarts = 4096

export class TextPositionLookup implements PositionLookup {
  private readonly text: string
  private readonly firstLine: number
  private readonly firstColumn: number
  /** Starts of the remembered lines so far; line numbers are from 0. */
  private readonly starts = [0]
  private readonly lines = [0]
  /** The last requested line: requests usually follow the order of the text. */
  private line = 0
  private lineStart = 0
  /** Start of the next line; -1 if not searched yet. */
  private nextStart = -1
  /** The last remembered line at or before the requested one. */
  private at = 0

  /** `firstLine` and `firstColumn`: where the text begins in its file, from 1. */
  constructor(text: string, firstLine = 1, firstColumn = 1) {
    this.text = text
    this.firstLine = firstLine
    this.firstColumn = firstColumn
  }

  textFrom(offset: number, length: number): string {
    return this.text.slice(offset, offset + length)
  }

  positionAt(offset: number): TextPosition {
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

  /** Start of the next line; Infinity after the last one. */
  private findNext(): number {
    const { at, line, lines, starts } = this
    if (lines[at + 1] === line + 1) return starts[at + 1] as number
    const next = findNextLineStart(this.text, this.lineStart)
    const isFar =
      line + 1 - (lines[at] as number) >= maxLinesBetweenCachedLineStarts ||
      next - (starts[at] as number) >= maxCharsBetweenCachedLineStarts
    if (isFar && at + 1 === starts.length) {
      starts.push(next)
      lines.push(line + 1)
    }
    return next
  }
}

function findNextLineStart(text: string, from: number): number {
  const found = text.indexOf('\n', from)
  return found < 0 ? Infinity : found + 1
}
