// A forward-only position in a YAML text that counts lines.

// go-yaml v2's errors, with positions.

/** Thrown only inside the YAML reader; readYaml() returns it as a value. */
export class YamlError extends Error {
  /** Offset of the error in the text; go-yaml may count its line from elsewhere. */
  readonly at: number
  /** `decoding`: conversion to JSON succeeded, but decoding the JSON failed. */
  readonly stage: 'converting' | 'decoding'

  constructor(message: string, at: number, stage: 'converting' | 'decoding' = 'converting') {
    super(message)
    this.name = 'YamlError'
    this.at = at
    this.stage = stage
  }
}

/** A position as the scanner counts: line from 0. */
export interface YamlMark {
  readonly index: number
  readonly line: number
}

/** One-letter escapes in double quotes, without JSON's `\/`. */
const characterByEscapeLetter: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
  '\t': '\t',
}

export const codeUnitByYamlEscapeLetter = createEscapeTable(characterByEscapeLetter)
export const TAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SPACE = 0x20
const NEXT_LINE = 0x85
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029

/** Text that go-yaml's reader rejects. It reads in blocks, so the error occurs before the scanner reaches the text. */
export interface YamlReaderProblem {
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
  private readonly unreadable: YamlReaderProblem | undefined
  /**
   * A go-yaml bug: it looks for a byte order mark at the start of its buffer instead of the line. After a second mark
   * at the start it skips one character per line, until the buffer moves on.
   */
  skipsLineStarts: boolean
  /** need() has nothing to check before this index. */
  watched: number

  constructor(text: string, unreadable?: YamlReaderProblem) {
    this.text = text
    this.size = text.length
    this.unreadable = unreadable
    this.skipsLineStarts = text.charCodeAt(0) === 0xfeff
    this.watched = this.skipsLineStarts ? getInitialReadBlockLength(text) : (unreadable?.from ?? Infinity)
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
function getInitialReadBlockLength(text: string): number {
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

export function isBlank(c: number): boolean {
  return c === SPACE || c === TAB
}

/** Character classes of YAML 1.1 by UTF-16 code unit. 0 means the end of the text. */
export function isLineBreak(c: number): boolean {
  return c === LF || c === CR || c === NEXT_LINE || c === LINE_SEPARATOR || c === PARAGRAPH_SEPARATOR
}

export function isLineBreakOrEnd(c: number): boolean {
  return c === 0 || isLineBreak(c)
}

export function isBlankOrEnd(c: number): boolean {
  return c === SPACE || c === LF || c === 0 || c === TAB || isLineBreak(c)
}

/** Characters of anchors, handles and directive names. */
export function isWordCharacter(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || isDigit(c) || c === 0x5f || c === 0x2d
}

export function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39
}

export function getHexDigitValue(c: number): number {
  if (isDigit(c)) return c - 0x30
  if (c >= 0x61 && c <= 0x66) return c - 0x57
  if (c >= 0x41 && c <= 0x46) return c - 0x37
  return -1
}

/** Code units of one-letter escapes by letter; -1 for others. */
export function createEscapeTable(characterByLetter: Readonly<Record<string, string>>): Int32Array {
  const table = new Int32Array(128).fill(-1)
  for (const [letter, character] of Object.entries(characterByLetter))
    table[letter.charCodeAt(0)] = character.charCodeAt(0)
  return table
}

/** go-yaml counts scanner errors' lines from one, but omits the first line. */
export function createScannerError(problem: string, at: YamlMark): YamlError {
  return new YamlError(at.line > 0 ? `yaml: line ${at.line + 1}: ${problem}` : `yaml: ${problem}`, at.index)
}

/** go-yaml counts parser errors' lines from zero. */
export function createParserError(problem: string, at: YamlMark): YamlError {
  return new YamlError(at.line > 0 ? `yaml: line ${at.line}: ${problem}` : `yaml: ${problem}`, at.index)
}
