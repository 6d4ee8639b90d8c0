// A forward-only position in a YAML text that counts lines.
import { CR, LF, isLineBreak } from './characters.ts'
import type { YamlMark } from './yaml-error.ts'
import { YamlError } from './yaml-error.ts'

/** Text that go-yaml's reader rejects. It reads in blocks, so the error comes before the scanner gets there. */
export interface RejectedYamlText {
  readonly message: string
  /** Start of the block with the rejected character: reading it is the error. */
  readonly from: number
  readonly at: number
}

export class YamlCursor implements YamlMark {
  readonly text: string
  readonly size: number
  index = 0
  line = 0
  private lineStart = 0
  private readonly unreadable: RejectedYamlText | undefined
  /**
   * A go-yaml bug: it looks for a byte order mark at the start of its buffer instead of the line. After a second mark
   * at the start it skips one character per line, until the buffer moves on.
   */
  skipsLineStarts: boolean
  /** need() has nothing to check before this index. */
  watched: number

  constructor(text: string, unreadable?: RejectedYamlText) {
    this.text = text
    this.size = text.length
    this.unreadable = unreadable
    this.skipsLineStarts = text.charCodeAt(0) === 0xfeff
    this.watched = this.skipsLineStarts ? getFirstReadBlockLength(text) : (unreadable?.from ?? Infinity)
  }

  get column(): number {
    return this.index - this.lineStart
  }

  /** Returns 0 after the end. */
  peek(offset = 0): number {
    const at = this.index + offset
    return at < this.size ? this.text.charCodeAt(at) : 0
  }

  /** Declares that the scanner reads the next `count` characters. Throws where go-yaml's reader would fail. */
  need(count: number): void {
    if (this.index + count > this.watched) this.readAhead(count)
  }

  private readAhead(count: number): void {
    this.skipsLineStarts = false
    this.watched = this.unreadable?.from ?? Infinity
    if (this.unreadable && this.index + count > this.watched) {
      throw new YamlError(`yaml: ${this.unreadable.message}`, this.unreadable.at)
    }
  }

  skip(count = 1): void {
    this.index += count
  }

  /** Skips one line break and returns its value in a scalar: LF, or LS and PS unchanged; 0 without a break. */
  readBreak(): number {
    const c = this.peek()
    if (!isLineBreak(c)) return 0
    this.index += c === CR && this.peek(1) === LF ? 2 : 1
    this.line++
    this.lineStart = this.index
    return c === 0x2028 || c === 0x2029 ? c : LF
  }

  /** Skips line feeds up to `watched`. */
  skipLineFeeds(): void {
    const end = Math.min(this.size, this.watched - 2)
    let at = this.index
    if (this.skipsLineStarts || at >= end || this.text.charCodeAt(at) !== LF) return
    while (at < end && this.text.charCodeAt(at) === LF) at++
    this.line += at - this.index
    this.index = at
    this.lineStart = at
  }

  /** `---` or `...` at the start of a line, followed by a blank, a break or the end. */
  atDocumentMarker(): boolean {
    if (this.index !== this.lineStart) return false
    const c = this.peek()
    if ((c !== 0x2d && c !== 0x2e) || this.peek(1) !== c || this.peek(2) !== c) return false
    const next = this.peek(3)
    return next === 0 || next === 0x20 || next === 0x09 || isLineBreak(next)
  }

  mark(): YamlMark {
    return { index: this.index, line: this.line }
  }

  /** At the end of the text the scanner closes all blocks as if a new line began. */
  forceNewLine(): void {
    if (this.column === 0) return
    this.lineStart = this.index
    this.line++
  }
}

/** Characters in go-yaml's first block of 512 bytes, less three for an initial byte order mark. */
function getFirstReadBlockLength(text: string): number {
  let bytes = 3
  let units = 0
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    if (bytes > 512) break
    units += character.length
  }
  return units
}
