// A document's tree with its text, so that callers can find end positions regardless of which reader parsed it. Parses
// lazily.
import type { Location } from '@catalog-bot/findings/finding'
import type { TextPosition } from '../go/text-position.ts'
import type { DocumentSpan } from './document-spans.ts'
import type { DocumentLines } from '../go/fast/line-starts.ts'
import { RegularJsonReader } from '../go/fast/regular-json.ts'
import { RegularYamlReader } from '../go/fast/regular-yaml.ts'
import { TextPositionLookup, type PositionLookup } from '../go/position-lookup.ts'
import { parseDocumentTree, type DocumentTree } from '../go/read-tree.ts'
import type { ParsedValue } from '../go/tree.ts'

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

const LINE_FEED = 0x0a
const OPEN_BRACE = 0x7b

/** Call in file order. Uses the fast readers where possible. */
export class PositionedTreeReader {
  private readonly bytes: Uint8Array
  private readonly yaml: RegularYamlReader
  private readonly json: RegularJsonReader

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.yaml = new RegularYamlReader(bytes)
    this.json = new RegularJsonReader(bytes)
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
  const tree = parseDocumentTree(bytes.subarray(start, end))
  return tree && new SlowParsedPositionedTree(tree, from)
}

/** Offsets are UTF-16 units of the document's text. */
class SlowParsedPositionedTree implements PositionedTree {
  readonly root: ParsedValue
  readonly isNested = false
  private readonly text: string
  private readonly from: TextPosition
  private readonly positions: PositionLookup

  constructor({ value, text }: DocumentTree, from: TextPosition) {
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
    const known = this.marks.get(offset)
    if (known) return known
    const mark = this.positions.positionAt(offset)
    this.marks.set(offset, mark)
    return mark
  }

  codeAt(offset: number): number {
    return this.bytes[offset] as number
  }

  lineEnd(offset: number): number {
    const lineFeed = this.bytes.indexOf(LINE_FEED, offset)
    return lineFeed < 0 ? this.bytes.length : lineFeed
  }
}
