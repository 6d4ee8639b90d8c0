// Offsets in a document's text to lines and columns of its file.
import type { Mark } from '../catalog.ts'

/** Turns offsets into places; what an offset counts is the affair of the tree that it comes from. */
export interface Places {
  mark(offset: number): Mark
  /** The text at an offset, at most `length` of it. */
  textFrom(offset: number, length: number): string
}

export class TextPlaces implements Places {
  private readonly text: string
  private readonly firstLine: number
  private readonly firstColumn: number
  private starts: number[] | undefined
  /** Facts are asked for in the order of the text, so the next is mostly on this line or just behind it. */
  private last = 0

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
    const starts = (this.starts ??= lineStarts(this.text))
    let low = 0
    let high = starts.length
    if ((starts[this.last] as number) <= offset) {
      low = this.last
      // Gallop forward from the last line before searching in halves.
      for (let step = 1; low + step < high; step *= 2) {
        if ((starts[low + step] as number) > offset) {
          high = low + step
          break
        }
        low += step
      }
    }
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle
    }
    this.last = low
    const column = offset - (starts[low] as number) + (low === 0 ? this.firstColumn : 1)
    return { line: this.firstLine + low, column }
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
