// A document's tree together with the text that it was read from, in whatever its offsets count: so that who wants to
// know where its values end need not know which reader read it. Reads nothing before it is asked.
import type { Location } from '../../findings/finding.ts'
import type { Mark } from '../../go/mark.ts'
import type { DocumentSpan } from './document-spans.ts'
import type { DocumentLines } from '../../go/fast/line-starts.ts'
import { RegularJsonReader } from '../../go/fast/regular-json.ts'
import { RegularReader } from '../../go/fast/regular-yaml.ts'
import { TextPlaces, type Places } from '../../go/places.ts'
import { readTree, type Tree } from '../../go/read-tree.ts'
import type { Value } from '../../go/tree.ts'

/** A place in a file, and the byte of the file at which it is. */
export interface Found {
  readonly at: Location
  readonly byte: number
}

export interface PlacedTree {
  readonly root: Value
  /** Every value is written within the one that holds it: none is there by an alias. */
  readonly isNested: boolean
  /** The offsets at which places are. Both are in ascending order. */
  offsetsOf(places: readonly Found[]): number[]
  /** The place of an offset in the file. */
  mark(offset: number): Mark
  /** The ASCII character at an offset, as its code; some number above 127 for others. */
  codeAt(offset: number): number
  /** The line feed that ends an offset's line, or the end of the text. */
  lineEnd(offset: number): number
}

const LINE_FEED = 0x0a
const OPEN_BRACE = 0x7b

/** Reads documents of one file, in the file's order: fast where the fast readers do it, else exactly. */
export class PlacedTrees {
  private readonly bytes: Uint8Array
  private readonly yaml: RegularReader
  private readonly json: RegularJsonReader

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.yaml = new RegularReader(bytes)
    this.json = new RegularJsonReader(bytes)
  }

  /** `from` is the place where the document begins. Undefined where it cannot be read or is empty. */
  read(document: DocumentSpan, from: Mark): PlacedTree | undefined {
    return this.readRegular(document.start, from) ?? readExactly(this.bytes, document, from)
  }

  private readRegular(start: number, from: Mark): PlacedTree | undefined {
    const { bytes, json, yaml } = this
    // To the fast reader of YAML a document begins with a line.
    const reader = bytes[start] === OPEN_BRACE ? json : from.column === 1 ? yaml : undefined
    const document = reader?.read(start)
    return document && new RegularTree(bytes, document.tree, document.lines, from.line)
  }
}

/** As `PlacedTrees.read`, without the fast readers: what they must be equal to. */
export function readExactly(
  bytes: Uint8Array,
  { start, end }: DocumentSpan,
  from: Mark,
): PlacedTree | undefined {
  const tree = readTree(bytes.subarray(start, end))
  return tree && new ExactTree(tree, from)
}

/** A tree of the exact readers: offsets count the UTF-16 units of the document's text. */
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

/** A tree of the fast readers: offsets count the file's bytes. */
class RegularTree implements PlacedTree {
  readonly root: Value
  readonly isNested = true
  private readonly bytes: Uint8Array
  private readonly places: Places
  /** Columns are counted from the line's start each time, and thousands of findings can be about one long value. */
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
