// Where the lines of a document begin, noted while it is read, and from that the line and column of any byte.
import type { Mark } from '../catalog.ts'
import type { Places } from '../load/places.ts'
import { handOver } from './hand-over.ts'
import { decode } from './scalar-text.ts'

/** The starts of more lines than any real document has would take more memory than the document. */
const mostLines = 4_000_000

export class LineStarts {
  private readonly bytes: Uint8Array
  /** Byte offsets in ascending order. */
  private starts = new Int32Array(64)
  private count = 1

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes
    this.starts[0] = start
  }

  /** Notes that a line begins at a byte; one noted twice in a row counts once. Hands over a document of too many. */
  add(start: number): void {
    if (this.starts[this.count - 1] === start) return
    if (this.count === this.starts.length) {
      if (this.count > mostLines) throw handOver
      const longer = new Int32Array(this.count * 4)
      longer.set(this.starts)
      this.starts = longer
    }
    this.starts[this.count++] = start
  }

  /** Lines that begin before `end`. */
  linesBefore(end: number): number {
    return this.starts[this.count - 1] === end ? this.count - 1 : this.count
  }

  /** Places by byte offset; the document's first line has the number `firstLine`. */
  places(firstLine: number): Places {
    return {
      mark: (offset) => this.mark(offset, firstLine),
      textFrom: (offset, length) => decode(this.bytes, offset, offset + 4 * length).slice(0, length),
    }
  }

  private mark(offset: number, firstLine: number): Mark {
    let low = 0
    let high = this.count
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.starts[middle] as number) <= offset) low = middle
      else high = middle
    }
    return { line: firstLine + low, column: 1 + unitsBetween(this.bytes, this.starts[low] as number, offset) }
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
