// A document's lazily parsed tree with its text, in which callers find ends whichever reader parsed it.
import type { Location } from '@catalog-bot/findings/finding'
import {
  NEWLINE,
  OPEN_BRACE,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  DOUBLE_QUOTE,
  OPEN_BRACKET,
} from '../go/fast/byte-classes.ts'
import { TextPositionLookup, type PositionLookup, type TextPosition } from '../go/position-lookup.ts'
import type { DocumentLines } from '../go/fast/line-starts.ts'
import { FastJsonReader } from '../go/fast/regular-json.ts'
import { FastYamlReader } from '../go/fast/regular-yaml.ts'
import { parseYamlDocumentTree, type YamlDocumentTree } from '../go/yaml/read-yaml.ts'
import type { ParsedValue, MapEntry, TextSpan } from '../go/tree.ts'
import { splitYamlChunks, trimLeadingSpace } from '../go/yaml/encoding.ts'
import { decodeUtf8LikeGo } from '../go/utf8.ts'
import { getOrCreate } from '@catalog-bot/findings/memoize'

/** Finds the documents of a file by separators and brackets alone, without parsing, so it needs little memory. */
interface DocumentSpan {
  /** Byte offset in the file. */
  readonly start: number
  readonly end: number
}

/** Bytes to search for an opening brace. */
const maxJsonDetectionBytes = 4096

// Finds the ends of values in one document. It is iterative and visits aliased values once, so its time is linear.

/** In lines. A longer value ends with its first part, because a reader cannot see more at a glance. */
export const maxHighlightedValueLines = 20

interface ValueOrKeyAtOffset {
  value?: ParsedValue
  key?: MapEntry
}

/** A position and its byte offset in the file. */
export interface LocationWithByteOffset {
  readonly at: Location
  readonly byte: number
}

export interface PositionedTree {
  readonly root: ParsedValue
  /** True if every value is written inside its parent, so the document has no aliases. */
  readonly isNested: boolean
  /** Both lists are ascending. */
  offsetsOf(places: readonly LocationWithByteOffset[]): number[]
  mark(offset: number): TextPosition
  /** A number above 127 if the character isn't ASCII. */
  codeAt(offset: number): number
  /** The offset of the line feed, or the end of the text. */
  lineEnd(offset: number): number
}

/** Call in file order. Uses the fast readers where possible. */
export class PositionedTreeReader {
  private readonly bytes: Uint8Array
  private readonly yaml: FastYamlReader
  private readonly json: FastJsonReader

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.yaml = new FastYamlReader(bytes)
    this.json = new FastJsonReader(bytes)
  }

  /** `from` is where the document begins. Returns undefined if it is unreadable or empty. */
  read(document: DocumentSpan, from: TextPosition): PositionedTree | undefined {
    return (
      this.readRegular(document.start, from) ?? readPositionedTreeWithSlowParser(this.bytes, document, from)
    )
  }

  private readRegular(start: number, from: TextPosition): PositionedTree | undefined {
    const { bytes, json, yaml } = this
    // The fast YAML reader needs documents that begin at a line start.
    const reader = bytes[start] === OPEN_BRACE ? json : from.column === 1 ? yaml : undefined
    const document = reader?.read(start)
    return document && new FastParsedPositionedTree(bytes, document.tree, document.lines, from.line)
  }
}

/** `PositionedTreeReader.read` without the fast readers, so that tests can compare the results. */
export function readPositionedTreeWithSlowParser(
  bytes: Uint8Array,
  { start, end }: DocumentSpan,
  from: TextPosition,
): PositionedTree | undefined {
  const tree = parseYamlDocumentTree(bytes.subarray(start, end))
  return tree && new SlowParsedPositionedTree(tree, from)
}

/** Offsets are UTF-16 units of the document's text. */
class SlowParsedPositionedTree implements PositionedTree {
  readonly root: ParsedValue
  readonly isNested = false
  private readonly text: string
  private readonly from: TextPosition
  private readonly positions: PositionLookup

  constructor({ value, text }: YamlDocumentTree, from: TextPosition) {
    this.root = value
    this.text = text
    this.from = from
    this.positions = new TextPositionLookup(text, from.line, from.column)
  }

  offsetsOf(locations: readonly LocationWithByteOffset[]): number[] {
    const { text } = this
    let { line, column: firstColumn } = this.from
    let lineStart = 0
    return locations.map(({ at }) => {
      for (; line < at.line; line++) {
        const lineFeed = text.indexOf('\n', lineStart)
        lineStart = lineFeed < 0 ? text.length : lineFeed + 1
        firstColumn = 1
      }
      return lineStart + at.column - firstColumn
    })
  }

  mark(offset: number): TextPosition {
    return this.positions.positionAt(offset)
  }

  codeAt(offset: number): number {
    return this.text.charCodeAt(offset)
  }

  lineEnd(offset: number): number {
    const lineFeed = this.text.indexOf('\n', offset)
    return lineFeed < 0 ? this.text.length : lineFeed
  }
}

/** Offsets are bytes of the file. */
class FastParsedPositionedTree implements PositionedTree {
  readonly root: ParsedValue
  readonly isNested = true
  private readonly bytes: Uint8Array
  private readonly positions: PositionLookup
  /** Cached, because each lookup counts from the line start, and one long value can have thousands of findings. */
  private readonly marks = new Map<number, TextPosition>()

  constructor(bytes: Uint8Array, root: ParsedValue, lines: DocumentLines, firstLine: number) {
    this.bytes = bytes
    this.root = root
    this.positions = lines.positions(firstLine)
  }

  offsetsOf(locations: readonly LocationWithByteOffset[]): number[] {
    return locations.map(({ byte }) => byte)
  }

  mark(offset: number): TextPosition {
    return getOrCreate(this.marks, offset, () => this.positions.positionAt(offset))
  }

  codeAt(offset: number): number {
    return this.bytes[offset] as number
  }

  lineEnd(offset: number): number {
    const lineFeed = this.bytes.indexOf(NEWLINE, offset)
    return lineFeed < 0 ? this.bytes.length : lineFeed
  }
}

/** Adds the ends of keys and values that start at `places` (ascending) to `ends`. */
export function addEndPositionsFromTree(
  tree: PositionedTree,
  locations: readonly LocationWithByteOffset[],
  ends: Map<Location, Pick<Location, 'endLine' | 'endColumn'>>,
): void {
  const { root } = tree
  const starts = tree.offsetsOf(locations)
  const nodes = findNodesAtOffsets(tree, starts)
  const trim = createTrailingWhitespaceTrimmer(tree)
  for (const [index, { at: location }] of locations.entries()) {
    const start = starts[index] as number
    const { value, key } = nodes.get(start) ?? {}
    if (key && (!value || location.extent === 'key')) {
      const { line, column } = tree.mark(key.keyEnd)
      ends.set(location, { endLine: line, endColumn: column })
    } else if (value) {
      const end = trim(value.end)
      const whole = tree.mark(end)
      const isLong = whole.line - location.line >= (value === root ? 1 : maxHighlightedValueLines)
      const { line, column } = isLong ? tree.mark(findEndOfFirstValueLine(value, end, tree)) : whole
      ends.set(location, { endLine: line, endColumn: column })
    }
  }
}

/** The outermost value and the key at each offset; offsets are ascending. */
function findNodesAtOffsets({ root, isNested }: PositionedTree, ascending: readonly number[]) {
  const offsets = new Set(ascending)
  const nodes = new Map<number, ValueOrKeyAtOffset>()
  const at = (offset: number) => getOrCreate(nodes, offset, () => ({}))
  const seen = new Set<ParsedValue>()
  const stack: ParsedValue[] = [root]
  for (let value = stack.pop(); value; value = stack.pop()) {
    // Recurring parts are parsed lazily (go/fast/recurring-blocks.ts), and not read here unless necessary.
    if (seen.has(value) || (isNested && !isAnyOffsetInSpan(ascending, value))) continue
    seen.add(value)
    if (offsets.has(value.start)) at(value.start).value ??= value
    if (value.kind === 'list') for (const item of value.items) stack.push(item)
    if (value.kind !== 'map') continue
    for (const { key, start, end } of value.repeated ?? [])
      if (offsets.has(start)) at(start).key ??= { key, keyStart: start, keyEnd: end, value }
    for (const entry of value.entries) {
      if (offsets.has(entry.keyStart)) at(entry.keyStart).key ??= entry
      stack.push(entry.value)
    }
  }
  return nodes
}

/** `ascending` is sorted. The end of the span is included. */
function isAnyOffsetInSpan(ascending: readonly number[], { start, end }: TextSpan): boolean {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] as number) < start) low = middle + 1
    else high = middle
  }
  return low < ascending.length && (ascending[low] as number) <= end
}

/** Excludes trailing blank lines, which the reader counts as part of a block scalar. */
function createTrailingWhitespaceTrimmer(tree: PositionedTree): (end: number) => number {
  const known = new Map<number, number>()
  return (end) => getOrCreate(known, end, () => trimTrailingWhitespace(tree, 0, end))
}

function trimTrailingWhitespace(tree: PositionedTree, start: number, end: number): number {
  let at = end
  while (at > start && isWhitespace(tree.codeAt(at - 1))) at--
  return at
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/**
 * The end of the first part of a value, on its first line. The part is a field (or its key if the field continues
 * below), a list item, a line of text, or the bracket if nothing follows it.
 */
function findEndOfFirstValueLine(whole: ParsedValue, end: number, tree: PositionedTree): number {
  const stop = tree.lineEnd(whole.start)
  let value = whole
  while (value.kind === 'list') {
    const [first] = value.items
    if (!first || first.start < value.start || first.start > stop) return Math.min(value.start + 1, end)
    value = first
  }
  if (value.kind !== 'map')
    return value.end <= stop ? value.end : trimTrailingWhitespace(tree, value.start, stop)
  const first = findFirstMapEntryInRange(value.entries, value.start, stop)
  if (!first) return Math.min(value.start + 1, end)
  // An alias points to a value further up.
  const isHere = first.value.start >= first.keyEnd && first.value.end <= stop
  return isHere ? first.value.end : first.keyEnd
}

/** By position in `[start, stop]`: entry order differs for duplicate keys. */
function findFirstMapEntryInRange(entries: readonly MapEntry[], start: number, stop: number) {
  let first: MapEntry | undefined
  for (const entry of entries)
    if (entry.keyStart >= start && entry.keyStart <= stop && !(first && first.keyStart <= entry.keyStart))
      first = entry
  return first
}

/** Matches opm's documents if all of them are valid. */
export function* findDocumentSpans(bytes: Uint8Array): Generator<DocumentSpan> {
  const isJson = trimLeadingSpace(decodeUtf8LikeGo(bytes.subarray(0, maxJsonDetectionBytes))).startsWith('{')
  let at = 0
  if (isJson) {
    for (;;) {
      while (at < bytes.length && (bytes[at] as number) <= 0x20) at++
      if (bytes[at] !== OPEN_BRACE) break
      const end = findClosingBrace(bytes, at)
      yield { start: at, end }
      at = end
    }
  }
  if (at < bytes.length) yield* splitYamlChunks(bytes, at, 0, decodeUtf8LikeGo)
}

/** Returns the offset after the closing bracket, or the end of the file. */
function findClosingBrace(bytes: Uint8Array, start: number): number {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === DOUBLE_QUOTE) at = findClosingQuote(bytes, at)
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at + 1
  }
  return bytes.length
}

/** Returns the offset of the closing quote, or the end of the file. */
function findClosingQuote(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== DOUBLE_QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
