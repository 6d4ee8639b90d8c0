// Where the lines of a file's documents begin, noted while they are read, and from that the line and column of any byte.
import type { Mark } from '../mark.ts'
import type { Places } from '../places.ts'
import { handOver } from './hand-over.ts'
import { decode } from './scalar-text.ts'

/** The starts of more lines than any real file has would take more memory than the file. */
const mostLines = 4_000_000

/** The lines of one file, document by document. */
export class LineStarts {
  /** Byte offsets, in ascending order within a document. */
  private starts = new Int32Array(64)
  /** How many lines are noted. A field, since the reader asks at every block. */
  noted = 0

  /** Forgets all lines. */
  clear(): void {
    this.noted = 0
  }

  /** Begins a document. Lines noted before stay, even if another reader had to read them. */
  begin(start: number): void {
    if (this.noted === this.starts.length) this.grow(this.noted + 1)
    this.starts[this.noted++] = start
  }

  /** Notes that a line begins at a byte; one noted twice in a row counts once. Hands over a file of too many. */
  add(start: number): void {
    if (this.starts[this.noted - 1] === start) return
    if (this.noted === this.starts.length) this.grow(this.noted + 1)
    this.starts[this.noted++] = start
  }

  /** Notes lines as they were noted for the same text elsewhere: those from `first` on, each `distance` bytes away. */
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

  /** Where the last noted line begins. */
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

/** The lines of one document: `[first, behind)` of its file's. */
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

  /** Lines that begin before `end`. */
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
