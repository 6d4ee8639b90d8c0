// A document's tree with its text, so that callers can find ends regardless of which reader parsed it. Parses lazily.
import type { Location } from '../../findings/finding.ts'
import type { Mark } from '../../go/mark.ts'
import type { DocumentSpan } from './document-spans.ts'
import type { DocumentLines } from '../../go/fast/line-starts.ts'
import { RegularJsonReader } from '../../go/fast/regular-json.ts'
import { RegularReader } from '../../go/fast/regular-yaml.ts'
import { TextPlaces, type Places } from '../../go/places.ts'
import { readTree, type Tree } from '../../go/read-tree.ts'
import type { Value } from '../../go/tree.ts'

/** A place and its byte offset in the file. */
export interface Found {
  readonly at: Location
  readonly byte: number
}

export interface PlacedTree {
  readonly root: Value
  /** Every value is written inside its parent, so there are no aliases. */
  readonly isNested: boolean
  /** Both lists are ascending. */
  offsetsOf(places: readonly Found[]): number[]
  mark(offset: number): Mark
  /** A number above 127 if the character isn't ASCII. */
  codeAt(offset: number): number
  /** The offset of the line feed, or the end of the text. */
  lineEnd(offset: number): number
}

const LINE_FEED = 0x0a
const OPEN_BRACE = 0x7b

/** Call in file order. Uses the fast readers where possible. */
export class PlacedTrees {
  private readonly bytes: Uint8Array
  private readonly yaml: RegularReader
  private readonly json: RegularJsonReader

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.yaml = new RegularReader(bytes)
    this.json = new RegularJsonReader(bytes)
  }

  /** `from` is where the document begins. Returns undefined if it is unreadable or empty. */
  read(document: DocumentSpan, from: Mark): PlacedTree | undefined {
    return this.readRegular(document.start, from) ?? readExactly(this.bytes, document, from)
  }

  private readRegular(start: number, from: Mark): PlacedTree | undefined {
    const { bytes, json, yaml } = this
    // The fast YAML reader needs documents that begin at a line start.
    const reader = bytes[start] === OPEN_BRACE ? json : from.column === 1 ? yaml : undefined
    const document = reader?.read(start)
    return document && new RegularTree(bytes, document.tree, document.lines, from.line)
  }
}

/** `PlacedTrees.read` without the fast readers, to test that both agree. */
export function readExactly(
  bytes: Uint8Array,
  { start, end }: DocumentSpan,
  from: Mark,
): PlacedTree | undefined {
  const tree = readTree(bytes.subarray(start, end))
  return tree && new ExactTree(tree, from)
}

/** Offsets are UTF-16 units of the document's text. */
class ExactTree implements PlacedTree {
  readonly root: Value
  readonly isNested = false
  private readonly text: string
  private readonly from: Mark
  private readonly places: Places

  constructor({ value, text }: Tree, from: Mark) {
    this.root = value
    this.text = text
    this.from = from
    this.places = new TextPlaces(text, from.line, from.column)
  }

  offsetsOf(places: readonly Found[]): number[] {
    const { text } = this
    let { line, column: firstColumn } = this.from
    let lineStart = 0
    return places.map(({ at }) => {
      for (; line < at.line; line++) {
        const lineFeed = text.indexOf('\n', lineStart)
        lineStart = lineFeed < 0 ? text.length : lineFeed + 1
        firstColumn = 1
      }
      return lineStart + at.column - firstColumn
    })
  }

  mark(offset: number): Mark {
    return this.places.mark(offset)
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
class RegularTree implements PlacedTree {
  readonly root: Value
  readonly isNested = true
  private readonly bytes: Uint8Array
  private readonly places: Places
  /** Cached, because each lookup counts from the line start, and one long value can have thousands of findings. */
  private readonly marks = new Map<number, Mark>()

  constructor(bytes: Uint8Array, root: Value, lines: DocumentLines, firstLine: number) {
    this.bytes = bytes
    this.root = root
    this.places = lines.places(firstLine)
  }

  offsetsOf(places: readonly Found[]): number[] {
    return places.map(({ byte }) => byte)
  }

  mark(offset: number): Mark {
    const known = this.marks.get(offset)
    if (known) return known
    const mark = this.places.mark(offset)
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
