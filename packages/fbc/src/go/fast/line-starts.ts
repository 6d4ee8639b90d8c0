// Records line starts while documents are read, to find the line and column of any byte.
import type { PositionLookup, TextPosition } from '../position-lookup.ts'
import { fastReaderUnsupportedError } from './byte-classes.ts'
import { decodeUtf8 } from './lazy-string.ts'

/** Limits memory. No real file has more lines. */
const maxDocumentLines = 4_000_000

export class LineStarts {
  private starts = new Int32Array(64)
  /** A field instead of a getter, because the reader asks at every block. */
  count = 0

  clear(): void {
    this.count = 0
  }

  /** Starts a document. Keeps earlier lines even if another reader eventually reads that document. */
  beginDocument(start: number): void {
    if (this.count === this.starts.length) this.grow(this.count + 1)
    this.starts[this.count++] = start
  }

  /** Adds a line start unless it equals the last one. Throws `fastReaderUnsupportedError` if the file has too many lines. */
  add(start: number): void {
    if (this.starts[this.count - 1] === start) return
    if (this.count === this.starts.length) this.grow(this.count + 1)
    this.starts[this.count++] = start
  }

  /** Repeats `count` recorded lines from `first` on, each moved by `distance` bytes. */
  addShifted(first: number, count: number, distance: number): void {
    if (this.count + count > this.starts.length) this.grow(this.count + count)
    const { starts } = this
    let at = this.count
    for (let line = first; line < first + count; line++) starts[at++] = (starts[line] as number) + distance
    this.count = at
  }

  getLineStart(line: number): number {
    return this.starts[line] as number
  }

  get last(): number {
    return this.starts[this.count - 1] as number
  }

  private grow(minLength: number): void {
    if (minLength > maxDocumentLines) throw fastReaderUnsupportedError
    const longer = new Int32Array(Math.max(this.starts.length * 4, minLength))
    longer.set(this.starts)
    this.starts = longer
  }
}

export class DocumentLines {
  private readonly bytes: Uint8Array
  private readonly lines: LineStarts
  private readonly first: number
  private readonly endLine: number

  constructor(bytes: Uint8Array, lines: LineStarts, first: number) {
    this.bytes = bytes
    this.lines = lines
    this.first = first
    this.endLine = lines.count
  }

  linesBefore(end: number): number {
    const count = this.endLine - this.first
    return this.lines.getLineStart(this.endLine - 1) === end ? count - 1 : count
  }

  /** Converts byte offsets to positions. The document's first line has the number `firstLine`. */
  positions(firstLine: number): PositionLookup {
    return {
      positionAt: (offset) => this.positionAt(offset, firstLine),
      textFrom: (offset, length) => decodeUtf8(this.bytes, offset, offset + 4 * length).slice(0, length),
    }
  }

  private positionAt(offset: number, firstLine: number): TextPosition {
    const { lines, first } = this
    let low = first
    let high = this.endLine
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (lines.getLineStart(middle) <= offset) low = middle
      else high = middle
    }
    return {
      line: firstLine + low - first,
      column: 1 + countUtf16CodeUnits(this.bytes, lines.getLineStart(low), offset),
    }
  }
}

/** UTF-16 code units of the well-formed UTF-8 in `[start, end)`. */
function countUtf16CodeUnits(bytes: Uint8Array, start: number, end: number): number {
  let units = 0
  for (let at = start; at < end; at++) {
    const value = bytes[at] as number
    if (value < 0x80 || value >= 0xc0) units += value >= 0xf0 ? 2 : 1
  }
  return units
}
