// Reads one JSON object in opm's own format, with the same result as the exact reader. Leaves unusual input to that
// reader (escaped or repeated keys, long lines, errors).
import {
  type TextBlockCache,
  type ListValue,
  type MapEntry,
  type MapValue,
  type ParsedValue,
  hasDuplicateKeys,
} from '../tree.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  DASH,
  DOUBLE_QUOTE,
  NEWLINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  SPACE,
  StopByteClass,
  TAB,
  jsonStringStopBytes,
  getMultibyteCharacterLength,
  fastReaderUnsupportedError,
} from './byte-classes.ts'
import {
  RecurringBlockTable,
  type RecurringBlock,
  LazyRecurringList,
  LazyRecurringMap,
  createRecurringBlock,
  noRecurringBlocks,
} from './recurring-blocks.ts'
import { LazyString, ScalarStyle, sharedInternTable } from './lazy-string.ts'
import { DocumentLines, LineStarts } from './line-starts.ts'

/** Catalogs have no deeper objects. */
const maxFastJsonDepth = 64

/** Columns are counted from the line start, which is quadratic in text without line ends. */
const maxFastJsonLineLength = 2000
const COMMA = 0x2c
const CARRIAGE_RETURN = 0x0d

export interface FastParsedJsonObject {
  readonly tree: MapValue
  readonly end: number
  readonly lines: DocumentLines
  readonly firstLine: number
}

export class FastJsonReader {
  private readonly bytes: Uint8Array
  private readonly lines = new LineStarts()
  private readonly blocks: RecurringBlockTable
  private at = 0
  private line = 0
  private lineStart = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.blocks = new RecurringBlockTable(bytes)
  }

  /**
   * Returns undefined if the exact reader must read the object. Spans are byte offsets in the file. The tree refers to
   * the bytes, which must stay unchanged while it is in use.
   */
  read(start: number): FastParsedJsonObject | undefined {
    const { bytes, lines, blocks } = this
    this.countLines(start)
    const first = lines.count
    try {
      lines.beginDocument(this.lineStart)
      const tree = new FastJsonParser(bytes, start, lines, blocks).document()
      const firstLine = this.line + 1
      this.line += lines.count - first - 1
      this.lineStart = lines.last
      this.at = tree.end
      return { tree, end: tree.end, lines: new DocumentLines(bytes, lines, first), firstLine }
    } catch (error) {
      if (error === fastReaderUnsupportedError) return undefined
      throw error
    }
  }

  private countLines(end: number): void {
    const { bytes } = this
    for (; this.at < end; this.at++) {
      if (bytes[this.at] !== NEWLINE) continue
      this.line++
      this.lineStart = this.at + 1
    }
  }
}

class FastJsonParser {
  private readonly bytes: Uint8Array
  private readonly lines: LineStarts
  private readonly blocks: RecurringBlockTable
  private at: number
  private depth = 0

  constructor(bytes: Uint8Array, start: number, lines: LineStarts, blocks: RecurringBlockTable, depth = 0) {
    this.bytes = bytes
    this.at = start
    this.lines = lines
    this.blocks = blocks
    this.depth = depth
  }

  document(): MapValue {
    if (this.bytes[this.at] !== OPEN_BRACE) throw fastReaderUnsupportedError
    return this.map()
  }

  /** Reads the map or list at the current byte without looking for known text. */
  blockHere(kind: RecurringBlock['kind'], memo?: TextBlockCache): MapValue | ListValue {
    return kind === 'map' ? this.map(memo) : this.list(memo)
  }

  private value(): ParsedValue {
    const { bytes, at: start } = this
    const first = bytes[start] as number
    switch (first) {
      case DOUBLE_QUOTE:
        return this.string()
      case OPEN_BRACE:
        return this.block('map')
      case OPEN_BRACKET:
        return this.block('list')
      case 0x74:
        this.word('true')
        return { kind: 'bool', start, end: this.at, value: true }
      case 0x66:
        this.word('false')
        return { kind: 'bool', start, end: this.at, value: false }
      case 0x6e:
        this.word('null')
        return { kind: 'null', start, end: this.at }
      default:
        return this.number()
    }
  }

  /** Compares a map or list if its text is known, and reads it otherwise. */
  private block(kind: 'map' | 'list'): MapValue | ListValue {
    const { bytes, blocks, lines, at: start, depth } = this
    // After the bracket, all blocks of one depth begin with the same spaces.
    let content = start + 1
    while (bytes[content] === SPACE || bytes[content] === NEWLINE) content++
    const slot = blocks.computeSlot(content, 0)
    const known = blocks.find(slot, kind, start, 0, depth)
    if (known) {
      lines.addShifted(known.firstLine, known.lineCount, start - known.start)
      this.at = start + known.length
      const Recurring = kind === 'map' ? LazyRecurringMap : LazyRecurringList
      return new Recurring(bytes, start, this.at, known, reparseRecurringJsonBlock)
    }
    const block = createRecurringBlock(kind, start, 0, depth, lines.count)
    const value = this.blockHere(kind, block)
    block.length = this.at - start
    block.lineCount = lines.count - block.firstLine
    blocks.record(slot, block)
    return value
  }

  private map(memo?: TextBlockCache): MapValue {
    const { bytes, at: start } = this
    if (++this.depth > maxFastJsonDepth) throw fastReaderUnsupportedError
    const entries: MapEntry[] = []
    this.at++
    let next = this.skipSpace()
    while (next !== CLOSE_BRACE) {
      const keyStart = this.at
      if (next !== DOUBLE_QUOTE || keyStart - this.lines.last > maxFastJsonLineLength)
        throw fastReaderUnsupportedError
      if (this.skipString()) throw fastReaderUnsupportedError
      const keyEnd = this.at
      if (this.skipSpace() !== COLON) throw fastReaderUnsupportedError
      this.at++
      this.skipSpace()
      const value = this.value()
      entries.push({
        key: sharedInternTable.intern(bytes, keyStart + 1, keyEnd - 1),
        keyStart,
        keyEnd,
        value,
      })
      next = this.afterComma(CLOSE_BRACE)
    }
    this.at++
    if (hasDuplicateKeys(entries)) throw fastReaderUnsupportedError
    this.depth--
    const end = this.at
    return memo ? { kind: 'map', start, end, entries, memo } : { kind: 'map', start, end, entries }
  }

  private list(memo?: TextBlockCache): ListValue {
    const { at: start } = this
    if (++this.depth > maxFastJsonDepth) throw fastReaderUnsupportedError
    const items: ParsedValue[] = []
    this.at++
    let next = this.skipSpace()
    while (next !== CLOSE_BRACKET) {
      if (this.at - this.lines.last > maxFastJsonLineLength) throw fastReaderUnsupportedError
      items.push(this.value())
      next = this.afterComma(CLOSE_BRACKET)
    }
    this.at++
    this.depth--
    const end = this.at
    return memo ? { kind: 'list', start, end, items, memo } : { kind: 'list', start, end, items }
  }

  /** Returns the closing bracket here, or the byte after the comma, which must not be a closing bracket. */
  private afterComma(closing: number): number {
    const next = this.skipSpace()
    if (next === closing) return next
    if (next !== COMMA) throw fastReaderUnsupportedError
    this.at++
    const first = this.skipSpace()
    if (first === closing) throw fastReaderUnsupportedError
    return first
  }

  private string(): ParsedValue {
    const start = this.at
    const hasEscapes = this.skipString()
    return new LazyString(this.bytes, start, this.at, hasEscapes ? ScalarStyle.json : ScalarStyle.verbatim)
  }

  /** Returns true if the string has escapes. */
  private skipString(): boolean {
    const { bytes } = this
    let at = this.at + 1
    let hasEscapes = false
    for (;;) {
      // Past the end the lookup gives undefined, not 0.
      while (jsonStringStopBytes[bytes[at] as number] === 0) at++
      const stop = jsonStringStopBytes[bytes[at] as number]
      if (stop === StopByteClass.quote) break
      if (stop === StopByteClass.backslash) {
        hasEscapes = true
        at += this.escapeLength(at + 1)
      } else if (stop === StopByteClass.wide) {
        const width = getMultibyteCharacterLength(bytes, at)
        if (width === 0) throw fastReaderUnsupportedError
        at += width
      } else throw fastReaderUnsupportedError
    }
    this.at = at + 1
    return hasEscapes
  }

  /** Includes the backslash. */
  private escapeLength(letter: number): number {
    const { bytes } = this
    if (bytes[letter] !== 0x75) {
      if (!jsonSimpleEscapeCharCodes.has(bytes[letter] as number)) throw fastReaderUnsupportedError
      return 2
    }
    for (let at = letter + 1; at <= letter + 4; at++)
      if (!isHexDigit(bytes[at] as number)) throw fastReaderUnsupportedError
    return 6
  }

  private word(word: string): void {
    const { bytes, at } = this
    for (let index = 0; index < word.length; index++)
      if (bytes[at + index] !== word.charCodeAt(index)) throw fastReaderUnsupportedError
    this.at = at + word.length
  }

  private number(): ParsedValue {
    const { bytes, at: start } = this
    let end = start
    while (isJsonNumberCharacter(bytes[end] as number)) end++
    const text = sharedInternTable.intern(bytes, start, end)
    const value = Number(text)
    if (!jsonNumberPattern.test(text) || !Number.isFinite(value)) throw fastReaderUnsupportedError
    this.at = end
    return { kind: 'number', start, end, value, text }
  }

  private skipSpace(): number {
    const { bytes } = this
    for (;;) {
      const next = bytes[this.at]
      if (next === NEWLINE) this.lines.add(this.at + 1)
      else if (next !== SPACE && next !== TAB && next !== CARRIAGE_RETURN) {
        if (next === undefined) throw fastReaderUnsupportedError
        return next
      }
      this.at++
    }
  }
}

const jsonNumberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/

const jsonSimpleEscapeCharCodes: ReadonlySet<number> = new Set(
  [...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)),
)

function isHexDigit(value: number): boolean {
  return (value >= 0x30 && value <= 0x39) || ((value | 0x20) >= 0x61 && (value | 0x20) <= 0x66)
}

function isJsonNumberCharacter(value: number): boolean {
  return (
    (value >= 0x30 && value <= 0x39) ||
    value === DASH ||
    value === 0x2b ||
    value === 0x2e ||
    (value | 0x20) === 0x65
  )
}

/** Lines of a block that is read again are already recorded. */
const unusedLineStartBuffer = new LineStarts()

function reparseRecurringJsonBlock(
  bytes: Uint8Array,
  start: number,
  { kind, depth }: RecurringBlock,
): ParsedValue {
  unusedLineStartBuffer.clear()
  return new FastJsonParser(bytes, start, unusedLineStartBuffer, noRecurringBlocks, depth).blockHere(kind)
}
