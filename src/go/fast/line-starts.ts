// Records line starts while documents are read, to find the line and column of any byte.
import type { Mark } from '../mark.ts'
import type { Places } from '../places.ts'
import { handOver } from './hand-over.ts'
import { decode } from './scalar-text.ts'

/** Limits memory: no real file has more lines. */
const mostLines = 4_000_000

export class LineStarts {
  private starts = new Int32Array(64)
  /** A field instead of a getter, because the reader asks at every block. */
  noted = 0

  clear(): void {
    this.noted = 0
  }

  /** Begins a document. Earlier lines stay, even if another reader reads that document in the end. */
  begin(start: number): void {
    if (this.noted === this.starts.length) this.grow(this.noted + 1)
    this.starts[this.noted++] = start
  }

  /** Adds a line start unless it equals the last one. Throws `handOver` if the file has too many lines. */
  add(start: number): void {
    if (this.starts[this.noted - 1] === start) return
    if (this.noted === this.starts.length) this.grow(this.noted + 1)
    this.starts[this.noted++] = start
  }

  /** Repeats `count` recorded lines from `first` on, each moved by `distance` bytes. */
  addAgain(first: number, count: number, distance: number): void {
    if (this.noted + count > this.starts.length) this.grow(this.noted + count)
    const { starts } = this
    let at = this.noted
    for (let line = first; line < first + count; line++) starts[at++] = (starts[line] as number) + distance
    this.noted = at
  }

  start(line: number): number {
    return this.starts[line] as number
  }

  get last(): number {
    return this.starts[this.noted - 1] as number
  }

  private grow(wanted: number): void {
    if (wanted > mostLines) throw handOver
    const longer = new Int32Array(Math.max(this.starts.length * 4, wanted))
    longer.set(this.starts)
    this.starts = longer
  }
}

export class DocumentLines {
  private readonly bytes: Uint8Array
  private readonly lines: LineStarts
  private readonly first: number
  private readonly behind: number

  constructor(bytes: Uint8Array, lines: LineStarts, first: number) {
    this.bytes = bytes
    this.lines = lines
    this.first = first
    this.behind = lines.noted
  }

  linesBefore(end: number): number {
    const count = this.behind - this.first
    return this.lines.start(this.behind - 1) === end ? count - 1 : count
  }

  /** Places by byte offset; the document's first line has the number `firstLine`. */
  places(firstLine: number): Places {
    return {
      mark: (offset) => this.mark(offset, firstLine),
      textFrom: (offset, length) => decode(this.bytes, offset, offset + 4 * length).slice(0, length),
    }
  }

  private mark(offset: number, firstLine: number): Mark {
    const { lines, first } = this
    let low = first
    let high = this.behind
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (lines.start(middle) <= offset) low = middle
      else high = middle
    }
    return { line: firstLine + low - first, column: 1 + unitsBetween(this.bytes, lines.start(low), offset) }
  }
}

/** UTF-16 code units of the well-formed UTF-8 in `[start, end)`. */
function unitsBetween(bytes: Uint8Array, start: number, end: number): number {
  let units = 0
  for (let at = start; at < end; at++) {
    const value = bytes[at] as number
    if (value < 0x80 || value >= 0xc0) units += value >= 0xf0 ? 2 : 1
  }
  return units
}
