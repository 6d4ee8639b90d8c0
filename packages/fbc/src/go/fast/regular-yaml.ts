// Reads one YAML document in block style, and returns what the full YAML parser would return. Leaves other input to that
// parser (anchors, tags, flow collections, tabs, repeated keys, errors).
import { resolvePlainScalar, toScalarValue } from '../yaml/resolve-scalar.ts'
import {
  type TextBlockCache,
  type ListValue,
  type MapEntry,
  type MapValue,
  type ParsedValue,
  hasDuplicateKeys,
} from '../tree.ts'
import * as byte from './byte-classes.ts'
import {
  StopByteClass,
  doubleQuotedStopBytes,
  yamlKeyBytes,
  plainScalarStopBytes,
  singleQuotedStopBytes,
  blockScalarStopBytes,
  getMultibyteCharacterLength,
  fastReaderUnsupportedError,
} from './byte-classes.ts'
import {
  RecurringBlockTable,
  type RecurringBlock,
  LazyRecurringList,
  LazyRecurringMap,
  type RecurringBlockReader,
  createRecurringBlock,
  noRecurringBlocks,
} from './recurring-blocks.ts'
import { LazyString, ScalarStyle, sharedInternTable } from './lazy-string.ts'
import { DocumentLines, LineStarts } from './line-starts.ts'

/** Catalogs have no deeper documents. */
const maxFastYamlDepth = 64
const maxYamlIndent = 1000

/** go-yaml's limit is 1024 characters; real keys are far shorter. */
const maxYamlKeyLength = 100

export interface FastParsedYamlDocument {
  readonly tree: MapValue
  /** A line that begins with `---`, or the end of the file. */
  readonly end: number
  readonly lines: DocumentLines
}

export class FastYamlReader {
  private readonly bytes: Uint8Array
  private readonly lines = new LineStarts()
  private readonly blocks: RecurringBlockTable

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.blocks = new RecurringBlockTable(bytes)
  }

  /**
   * Returns undefined if the exact reader must read the document. Spans are byte offsets in the file. The tree refers
   * to the bytes, which must stay unchanged while it is in use.
   */
  read(start: number): FastParsedYamlDocument | undefined {
    const { bytes, lines, blocks } = this
    const first = lines.count
    try {
      lines.beginDocument(start)
      const { tree, end } = new FastYamlParser(bytes, start, lines, blocks).document()
      return { tree, end, lines: new DocumentLines(bytes, lines, first) }
    } catch (error) {
      if (error === fastReaderUnsupportedError) return undefined
      throw error
    }
  }
}

class FastYamlParser {
  private readonly bytes: Uint8Array
  private end: number
  private readonly lines: LineStarts
  private readonly blocks: RecurringBlockTable
  /** The next byte to read; after each value, the first byte of the next non-blank line. */
  private at: number
  /** Indentation of the line at `at`; -1 at the end of the document. */
  private indent = 0
  private skippedLines = false
  private depth = 0
  /** Entries of all open collections, innermost last. One shared array avoids the spare capacity of many. */
  private readonly entries: MapEntry[] = []
  private entryCount = 0
  private readonly items: ParsedValue[] = []
  private itemCount = 0

  constructor(bytes: Uint8Array, start: number, lines: LineStarts, blocks: RecurringBlockTable) {
    this.bytes = bytes
    this.end = bytes.length
    this.at = start
    this.lines = lines
    this.blocks = blocks
  }

  document(): { tree: MapValue; end: number } {
    const { bytes, at } = this
    // The separator line belongs to the document if nothing precedes it.
    if (bytes[at] === byte.DASH && bytes[at + 1] === byte.DASH && bytes[at + 2] === byte.DASH) {
      if (bytes[at + 3] !== byte.NEWLINE) throw fastReaderUnsupportedError
      this.startLine(at + 3)
    } else {
      this.startLine(at)
    }
    if (this.indent !== 0) throw fastReaderUnsupportedError
    const tree = this.mapping(0)
    if (this.at !== this.end) throw fastReaderUnsupportedError
    return { tree, end: this.end }
  }

  /** Compares a nested collection if its text is known, and reads it otherwise. */
  private block(kind: 'map' | 'list' | 'compact-list', column: number): MapValue | ListValue {
    const { bytes, blocks, lines, at: start, depth } = this
    const slot = blocks.computeSlot(start, column)
    const known = blocks.find(slot, kind, start, column, depth)
    if (known && this.skipKnownBlock(known)) {
      const Recurring = kind === 'map' ? LazyRecurringMap : LazyRecurringList
      return new Recurring(bytes, start, start + known.span, known, reparseRecurringYamlBlock)
    }
    const block = createRecurringBlock(kind, start, column, depth, lines.count)
    const value = this.unknownBlock(kind, column, block)
    block.span = value.end - start
    this.recordBlock(slot, block)
    return value
  }

  /** Reads the block at the current byte without looking for known text. */
  blockHere(kind: RecurringBlock['kind'], column: number, depth: number): ParsedValue {
    this.indent = column
    this.depth = depth
    return this.unknownBlock(kind, column, undefined)
  }

  private unknownBlock(kind: RecurringBlock['kind'], column: number, memo: TextBlockCache | undefined) {
    return kind === 'map' ? this.mapping(column, memo) : this.sequence(column, kind === 'compact-list', memo)
  }

  /** Skips a text equal to a known block if the next line cannot belong to it. */
  private skipKnownBlock({
    kind,
    start,
    length,
    column,
    literalIndent,
    firstLine,
    lineCount,
  }: RecurringBlock): boolean {
    const { bytes, end, at } = this
    const behind = at + length
    let next = behind
    while (bytes[next] === byte.SPACE) next++
    if (next >= end ? next > behind : byte.continuationLineStartBytes[bytes[next] as number] === 1)
      return false
    const indent = next - behind
    const isBehind =
      kind === 'literal'
        ? indent < literalIndent
        : indent < column || (kind === 'compact-list' && indent === column && bytes[next] !== byte.DASH)
    if (!isBehind) return false
    this.lines.addShifted(firstLine, lineCount, at - start)
    this.startLine(behind)
    return true
  }

  /** Remembers the block if it ends at a content line with no blank lines in between. */
  private recordBlock(slot: number, block: RecurringBlock): void {
    if (this.skippedLines || this.indent < 0) return
    block.length = this.at - this.indent - block.start
    block.lineCount = this.lines.count - block.firstLine
    this.blocks.record(slot, block)
  }

  private mapping(column: number, memo?: TextBlockCache): MapValue {
    if (++this.depth > maxFastYamlDepth) throw fastReaderUnsupportedError
    const { bytes } = this
    const start = this.at
    const { entries } = this
    const bottom = this.entryCount
    let lastKey = ''
    let isAscending = true
    do {
      const keyStart = this.at
      const keyEnd = this.keyEnd(keyStart)
      if (keyEnd < 0) throw fastReaderUnsupportedError
      const key = sharedInternTable.intern(bytes, keyStart, keyEnd)
      if (keyEnd - keyStart <= 5 && byte.ambiguousScalarStartBytes[bytes[keyStart] as number] === 1) {
        if (resolvePlainScalar(key).type !== 'str') throw fastReaderUnsupportedError
      }
      if (key <= lastKey) isAscending = false
      lastKey = key
      this.at = keyEnd + 1
      const value = this.mapped(column)
      entries[this.entryCount++] = { key, keyStart, keyEnd, value }
    } while (this.indent === column && !this.isAtDash())
    if (this.indent >= column) throw fastReaderUnsupportedError
    const own = entries.slice(bottom, this.entryCount)
    this.entryCount = bottom
    if (!isAscending && hasDuplicateKeys(own)) throw fastReaderUnsupportedError
    this.depth--
    const { end } = (own[own.length - 1] as MapEntry).value
    return memo ? { kind: 'map', start, end, entries: own, memo } : { kind: 'map', start, end, entries: own }
  }

  /** Returns the position of the colon, or -1 if this reader does not accept the key. */
  private keyEnd(start: number): number {
    const { bytes } = this
    if (byte.yamlKeyStartBytes[bytes[start] as number] !== 1) return -1
    let at = start + 1
    while (at < this.end && yamlKeyBytes[bytes[at] as number] === 1) at++
    if (bytes[at] !== byte.COLON || at - start > maxYamlKeyLength) return -1
    const next = at + 1 < this.end ? bytes[at + 1] : byte.NEWLINE
    return next === byte.SPACE || next === byte.NEWLINE ? at : -1
  }

  private mapped(column: number): ParsedValue {
    const { bytes } = this
    const colon = this.at
    if (bytes[colon] === byte.SPACE) {
      this.at = colon + 1
      return this.inline(column)
    }
    this.startLine(colon)
    if (this.indent > column) {
      if (this.isAtDash()) return this.block('list', this.indent)
      return this.block('map', this.indent)
    }
    if (this.indent === column && this.isAtDash()) return this.block('compact-list', column)
    return { kind: 'null', start: colon, end: colon }
  }

  private sequence(column: number, isCompact: boolean, memo?: TextBlockCache): ListValue {
    if (++this.depth > maxFastYamlDepth) throw fastReaderUnsupportedError
    const { bytes } = this
    const start = this.at
    const { items } = this
    const bottom = this.itemCount
    do {
      if (bytes[this.at + 1] !== byte.SPACE) throw fastReaderUnsupportedError
      this.at += 2
      const first = this.at
      const item = this.isAtDash()
        ? this.sequence(column + 2, false)
        : this.keyEnd(first) >= 0
          ? this.block('map', column + 2)
          : this.inline(column)
      items[this.itemCount++] = item
    } while (this.indent === column && this.isAtDash())
    if (this.indent > column || (this.indent === column && !isCompact)) throw fastReaderUnsupportedError
    const own = items.slice(bottom, this.itemCount)
    this.itemCount = bottom
    this.depth--
    const { end } = own[own.length - 1] as ParsedValue
    return memo ? { kind: 'list', start, end, items: own, memo } : { kind: 'list', start, end, items: own }
  }

  private inline(column: number): ParsedValue {
    const first = this.at < this.end ? (this.bytes[this.at] as number) : byte.NEWLINE
    if (byte.unambiguousScalarStartBytes[first] === 1 || first >= 0x80) return this.plain(column, false)
    if (byte.ambiguousScalarStartBytes[first] === 1) return this.plain(column, true)
    switch (first) {
      case byte.DOUBLE_QUOTE:
        return this.doubleQuoted()
      case byte.SINGLE_QUOTE:
        return this.singleQuoted()
      case byte.PIPE:
        return this.literal(column)
      case byte.DASH:
        if (this.isAtDash()) throw fastReaderUnsupportedError
        return this.plain(column, true)
      case byte.OPEN_BRACE:
      case byte.OPEN_BRACKET:
        return this.emptyCollection(first)
      default:
        throw fastReaderUnsupportedError
    }
  }

  private plain(column: number, mayHaveType: boolean): ParsedValue {
    const start = this.at
    let lineStart = start
    const base64End = this.skipBase64OfJson(start)
    let end = this.plainLine(base64End)
    let isWide = this.sawWide
    this.startLine(end)
    while (this.indent > column) {
      if (this.skippedLines) throw fastReaderUnsupportedError
      lineStart = this.at
      end = this.plainLine(lineStart)
      isWide ||= this.sawWide
      this.startLine(end)
    }
    if (lineStart !== start) return new LazyString(this.bytes, start, end, ScalarStyle.folded)
    if (mayHaveType && !isWide && isPossiblyNonStringScalar(this.bytes, start, end)) {
      const text = sharedInternTable.intern(this.bytes, start, end)
      const resolved = resolvePlainScalar(text)
      if (resolved.type === 'float' && !Number.isFinite(resolved.value)) throw fastReaderUnsupportedError
      if (resolved.type !== 'str') return toScalarValue(resolved, createPlainScalarNode(text, start, end))
    }
    const isBase64 = base64End > start && this.isBase64Padding(base64End, end) && (end - start) % 4 === 0
    return new LazyString(this.bytes, start, end, isBase64 ? ScalarStyle.base64OfJson : ScalarStyle.plain)
  }

  /** Skips base64 letters if they begin with an opening brace in base64. Such manifests can fill most of a catalog. */
  private skipBase64OfJson(start: number): number {
    const { bytes } = this
    if (bytes[start] !== byte.LOWERCASE_E || byte.base64OfBraceSecondBytes[bytes[start + 1] as number] !== 1)
      return start
    let at = start + 2
    while (byte.base64Bytes[bytes[at] as number] === 1) at++
    return at
  }

  private isBase64Padding(start: number, end: number): boolean {
    const { bytes } = this
    for (let at = start; at < end; at++) if (bytes[at] !== byte.EQUALS) return false
    return end - start <= 2
  }

  private sawWide = false

  private plainLine(start: number): number {
    const { bytes, end } = this
    this.sawWide = false
    let at = start
    for (;;) {
      while (at < end && plainScalarStopBytes[bytes[at] as number] === 0) at++
      if (at >= end) break
      const stop = plainScalarStopBytes[bytes[at] as number]
      if (stop === StopByteClass.newline) break
      if (stop === StopByteClass.colon) {
        const next = at + 1 < end ? bytes[at + 1] : byte.NEWLINE
        if (next === byte.SPACE || next === byte.NEWLINE || next === byte.TAB)
          throw fastReaderUnsupportedError
        at++
      } else if (stop === StopByteClass.hash) {
        if (bytes[at - 1] === byte.SPACE) throw fastReaderUnsupportedError
        at++
      } else {
        at += this.wide(at)
        this.sawWide = true
      }
    }
    // Trailing spaces do not belong to the scalar, and are rare.
    if (bytes[at - 1] === byte.SPACE) throw fastReaderUnsupportedError
    return at
  }

  private doubleQuoted(): ParsedValue {
    const { bytes, end } = this
    const start = this.at
    let at = start + 1
    let isSimple = true
    for (;;) {
      while (at < end && doubleQuotedStopBytes[bytes[at] as number] === 0) at++
      if (at >= end) throw fastReaderUnsupportedError
      const stop = doubleQuotedStopBytes[bytes[at] as number]
      if (stop === StopByteClass.quote) break
      if (stop === StopByteClass.newline) {
        isSimple = false
        at = this.quotedLineEnd(at)
      } else if (stop === StopByteClass.backslash) {
        isSimple = false
        at = this.escape(at)
      } else {
        at += this.wide(at)
      }
    }
    return this.quoted(start, at, isSimple ? ScalarStyle.verbatim : ScalarStyle.double)
  }

  private singleQuoted(): ParsedValue {
    const { bytes, end } = this
    const start = this.at
    let at = start + 1
    let isSimple = true
    for (;;) {
      while (at < end && singleQuotedStopBytes[bytes[at] as number] === 0) at++
      if (at >= end) throw fastReaderUnsupportedError
      const stop = singleQuotedStopBytes[bytes[at] as number]
      if (stop === StopByteClass.quote) {
        if (bytes[at + 1] !== byte.SINGLE_QUOTE) break
        isSimple = false
        at += 2
      } else if (stop === StopByteClass.newline) {
        isSimple = false
        at = this.quotedLineEnd(at)
      } else {
        at += this.wide(at)
      }
    }
    return this.quoted(start, at, isSimple ? ScalarStyle.verbatim : ScalarStyle.single)
  }

  /** The closing quote must be the last thing on its line. */
  private quoted(start: number, closing: number, style: number): ParsedValue {
    const next = closing + 1
    if (next < this.end && this.bytes[next] !== byte.NEWLINE) throw fastReaderUnsupportedError
    this.startLine(next)
    return new LazyString(this.bytes, start, next, style)
  }

  /** Skips line ends inside quotes; the next line with content must be indented. */
  private quotedLineEnd(newline: number): number {
    const { bytes } = this
    if (bytes[newline - 1] === byte.SPACE) throw fastReaderUnsupportedError
    return this.nextQuotedLine(newline)
  }

  private nextQuotedLine(newline: number): number {
    const { bytes } = this
    let at = newline
    while (bytes[at] === byte.NEWLINE) this.lines.add(++at)
    if (bytes[at] !== byte.SPACE) throw fastReaderUnsupportedError
    while (bytes[at] === byte.SPACE) at++
    if (bytes[at] === byte.NEWLINE) throw fastReaderUnsupportedError
    return at
  }

  private escape(backslash: number): number {
    const code = this.bytes[backslash + 1]
    if (code === undefined) throw fastReaderUnsupportedError
    if (code === byte.NEWLINE) return this.nextQuotedLine(backslash + 1)
    if (byte.singleLetterEscapeBytes[code] === 1) return backslash + 2
    const digits = code === 0x78 ? 2 : code === 0x75 ? 4 : code === 0x55 ? 8 : 0
    const after = backslash + 2 + digits
    if (digits === 0 || after > this.end) throw fastReaderUnsupportedError
    const hex = sharedInternTable.intern(this.bytes, backslash + 2, after)
    if (!/^[0-9a-fA-F]+$/.test(hex)) throw fastReaderUnsupportedError
    const point = parseInt(hex, 16)
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) throw fastReaderUnsupportedError
    return after
  }

  private literal(column: number): ParsedValue {
    const { bytes, blocks, lines, at: start, depth } = this
    const slot = blocks.computeSlot(start, column)
    const known = blocks.find(slot, 'literal', start, column, depth)
    if (known && this.skipKnownBlock(known))
      return new LazyString(bytes, start, start + known.length, ScalarStyle.literal, known.literalIndent)
    const block = createRecurringBlock('literal', start, column, depth, lines.count)
    const value = this.unknownLiteral(column)
    block.literalIndent = value.indent
    this.recordBlock(slot, block)
    return value
  }

  private unknownLiteral(column: number): LazyString {
    const { bytes, end, lines } = this
    const start = this.at
    let at = start + 1
    let explicit = 0
    for (; bytes[at] !== byte.NEWLINE; at++) {
      const sign = bytes[at]
      if (sign !== undefined && sign > 0x30 && sign <= 0x39 && explicit === 0) explicit = sign - 0x30
      else if (at > start + 2 || (sign !== byte.DASH && sign !== byte.PLUS)) throw fastReaderUnsupportedError
    }
    if (at > start + 3 || (at === start + 3 && explicit === 0)) throw fastReaderUnsupportedError
    lines.add(++at)
    while (bytes[at] === byte.NEWLINE) lines.add(++at)
    const firstLine = at
    while (bytes[at] === byte.SPACE) at++
    const indent = explicit === 0 ? at - firstLine : column + explicit
    const first = bytes[at]
    // The rules for literals that are empty or have only spaces are complicated.
    if (at - firstLine < indent || indent <= column || first === undefined) throw fastReaderUnsupportedError
    if (indent > maxYamlIndent) throw fastReaderUnsupportedError
    if (first === byte.NEWLINE || first === byte.TAB) throw fastReaderUnsupportedError
    let lineStart: number
    do {
      // Here `at` is after the indentation of a content line.
      for (;;) {
        while (at < end && blockScalarStopBytes[bytes[at] as number] === 0) at++
        if (at >= end) throw fastReaderUnsupportedError
        if (bytes[at] === byte.NEWLINE) break
        at += this.wide(at)
      }
      lines.add(++at)
      lineStart = at
      // Lines with fewer spaces than the content and nothing else are empty lines.
      for (;;) {
        while (at < lineStart + indent && bytes[at] === byte.SPACE) at++
        if (bytes[at] !== byte.NEWLINE || at === lineStart + indent) break
        lines.add(++at)
        lineStart = at
      }
    } while (at === lineStart + indent && at < end)
    if (bytes[at] === byte.TAB || (at >= end && at > lineStart)) throw fastReaderUnsupportedError
    this.startLine(lineStart)
    return new LazyString(bytes, start, lineStart, ScalarStyle.literal, indent)
  }

  /** opm writes no flow collections but `{}` and `[]`. */
  private emptyCollection(opening: number): ParsedValue {
    const start = this.at
    const closing = opening === byte.OPEN_BRACE ? byte.CLOSE_BRACE : byte.CLOSE_BRACKET
    const end = start + 2
    if (this.bytes[start + 1] !== closing) throw fastReaderUnsupportedError
    if (end < this.end && this.bytes[end] !== byte.NEWLINE) throw fastReaderUnsupportedError
    this.startLine(end)
    return closing === byte.CLOSE_BRACE
      ? { kind: 'map', start, end, entries: [] }
      : { kind: 'list', start, end, items: [] }
  }

  private startLine(from: number): void {
    const { bytes, end, lines } = this
    let at = from
    if (bytes[at] === byte.NEWLINE) lines.add(++at)
    this.skippedLines = false
    for (;;) {
      const lineStart = at
      while (bytes[at] === byte.SPACE) at++
      if (at >= end) return this.endAt(end)
      const first = bytes[at]
      if (first === byte.NEWLINE) {
        lines.add(++at)
      } else if (first === byte.HASH) {
        at = this.commentEnd(at)
      } else {
        const isSeparator = at === lineStart && first === byte.DASH && bytes[at + 1] === byte.DASH
        if (isSeparator && bytes[at + 2] === byte.DASH) return this.endAt(at)
        this.at = at
        this.indent = at - lineStart
        return
      }
      this.skippedLines = true
    }
  }

  private endAt(end: number): void {
    this.end = end
    this.at = end
    this.indent = -1
  }

  private commentEnd(start: number): number {
    const { bytes, end } = this
    let at = start
    while (at < end) {
      const stop = blockScalarStopBytes[bytes[at] as number]
      if (stop === StopByteClass.newline) {
        this.lines.add(++at)
        return at
      }
      at += stop === 0 ? 1 : this.wide(at)
    }
    return at
  }

  private isAtDash(): boolean {
    const { bytes, at, end } = this
    if (bytes[at] !== byte.DASH) return false
    const next = at + 1 < end ? bytes[at + 1] : byte.NEWLINE
    return next === byte.SPACE || next === byte.NEWLINE || next === byte.TAB
  }

  /** Hands over at Unicode line ends and other characters special to YAML. */
  private wide(at: number): number {
    const width = getMultibyteCharacterLength(this.bytes, at)
    if (width === 0) throw fastReaderUnsupportedError
    return width
  }
}

/** Lines of a block that is read again are already recorded. */
const unusedLineStartBuffer = new LineStarts()

/** Never reads a literal. */
const reparseRecurringYamlBlock: RecurringBlockReader = (bytes, start, { kind, column, depth }) => {
  unusedLineStartBuffer.clear()
  return new FastYamlParser(bytes, start, unusedLineStartBuffer, noRecurringBlocks).blockHere(
    kind,
    column,
    depth,
  )
}

/**
 * Returns whether the scalar may be something other than text: a short word, or only number characters with at most one
 * point. Most that begin with a digit are versions.
 */
function isPossiblyNonStringScalar(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start <= 5) return true
  let points = 0
  for (let at = start; at < end; at++) {
    const value = bytes[at] as number
    if (byte.numberCharacterBytes[value] !== 1) return false
    if (value === byte.PERIOD && ++points > 1) return false
  }
  return true
}

function createPlainScalarNode(
  value: string,
  start: number,
  end: number,
): Parameters<typeof toScalarValue>[1] {
  return { kind: 'scalar', start, end, tag: '', value, implicit: true, anchor: '' }
}
