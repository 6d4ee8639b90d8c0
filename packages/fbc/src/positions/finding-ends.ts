// Adds end positions to the locations of findings. Facts store only start positions. End positions are read from the
// file when a finding is reported, so a catalog without findings has no cost.
import type { Finding, Location } from '@catalog-bot/findings/finding'
import {
  PositionedTreeReader,
  type LocationWithByteOffset,
  addEndPositionsFromTree,
  maxHighlightedValueLines,
  findDocumentSpans,
} from './positioned-tree.ts'
import type { TextPosition } from '../go/position-lookup.ts'
import { getUtf8CharacterLength, decodeUtf8LikeGo } from '../go/utf8.ts'

/** The number of bytes of a line to search for an end. */
const maxScannedLineBytes = 4096

/** Queries must be in ascending order. */
export class ByteOffsetPositionConverter {
  private readonly bytes: Uint8Array
  private line = 1
  private lineStart = 0
  private lineEnd: number
  private column = 1
  private at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.lineEnd = this.endFrom(0)
  }

  private endFrom(start: number): number {
    const end = this.bytes.indexOf(0x0a, start)
    return end < 0 ? this.bytes.length : end
  }

  /** Returns undefined if the position doesn't exist. */
  byteAt({ line, column }: TextPosition): number | undefined {
    const { bytes } = this
    while (this.line < line) {
      if (this.lineEnd === bytes.length) return undefined
      this.nextLine()
    }
    while (this.column < column) {
      if (this.at >= this.lineEnd) return undefined
      this.nextCharacter()
    }
    return this.at
  }

  markOf(byte: number): TextPosition {
    while (this.lineEnd < byte) this.nextLine()
    while (this.at < byte) this.nextCharacter()
    return { line: this.line, column: this.column }
  }

  private nextLine(): void {
    this.line++
    this.lineStart = this.at = this.lineEnd + 1
    this.lineEnd = this.endFrom(this.at)
    this.column = 1
  }

  private nextCharacter(): void {
    const width = getUtf8CharacterLength(this.bytes, this.at)
    this.at += Math.max(1, width)
    this.column += width === 4 ? 2 : 1
  }

  /**
   * The length in UTF-16 units of the quoted string, bracket, or plain value at a position. 0 if the position doesn't
   * exist.
   */
  lengthAt(position: TextPosition): number {
    const { bytes } = this
    if (this.byteAt(position) === undefined) return 0
    const stop = Math.min(this.lineEnd, this.at + maxScannedLineBytes)
    let before = this.at - 1
    while (before >= this.lineStart && bytes[before] === 0x20) before--
    return computeYamlValueLength(
      decodeUtf8LikeGo(bytes.subarray(this.at, stop)),
      before < this.lineStart ? '' : String.fromCharCode(bytes[before] as number),
    )
  }
}

type EndPosition = Pick<Location, 'endLine' | 'endColumn'>

/** In bytes. Findings in larger documents end on the line where they start. Bundles of that size have a finding. */
const maxReparsedDocumentBytes = 1024 * 1024
const maxTotalReparsedBytes = 16 * 1024 * 1024

/**
 * Each location gets the end of the value that starts there, or of the key if only a key starts there or if `extent`
 * requests it. A blob of several lines, and any value over twenty lines, ends with its first part, because code
 * scanning shows a finding in a pull request only if all of its lines are in the diff.
 *
 * Locations outside a parsed tree (ignored text, and unreadable or very large documents) end on the line where they
 * start. A location that doesn't exist ends where it starts. Calls `bytesOf` once per file. Does not change findings
 * that have no location or bytes, or that already end within the next twenty lines.
 */
export function addFindingEndPositions(
  findings: readonly Finding[],
  bytesOf: (file: string) => Uint8Array | undefined,
): Finding[] {
  const open = findings.flatMap(({ at }) =>
    at && !(at.endLine !== undefined && at.endLine - at.line < maxHighlightedValueLines) ? [at] : [],
  )
  const ends = new Map<Location, EndPosition>()
  let left = maxTotalReparsedBytes
  for (const [file, locations] of Map.groupBy(open, (at) => at.file)) {
    const bytes = bytesOf(file)
    if (bytes === undefined) continue
    locations.sort((a, b) => a.line - b.line || a.column - b.column)
    const found = findEndPositionsFromLines(bytes, locations, ends)
    left = findEndPositionsInDocuments(bytes, found, ends, left)
  }
  return findings.map((finding) => {
    const end = finding.at && ends.get(finding.at)
    if (!finding.at || !end) return finding
    const { extent: _, ...at } = finding.at
    return { ...finding, at: { ...at, ...end } }
  })
}

/** Returns the locations that exist. */
function findEndPositionsFromLines(
  bytes: Uint8Array,
  locations: readonly Location[],
  ends: Map<Location, EndPosition>,
): LocationWithByteOffset[] {
  // In UTF-16, line ends have other bytes. Such a file is one document if it can be parsed.
  if (hasUtf16ByteOrderMark(bytes)) {
    for (const at of locations) ends.set(at, { endLine: at.line, endColumn: at.column })
    return locations.map((at) => ({ at, byte: 0 }))
  }
  const reader = new ByteOffsetPositionConverter(bytes)
  return locations.flatMap((at) => {
    const byte = reader.byteAt(at)
    const length = byte === undefined ? 0 : reader.lengthAt(at)
    ends.set(at, { endLine: at.line, endColumn: at.column + length })
    return byte === undefined ? [] : [{ at, byte }]
  })
}

function hasUtf16ByteOrderMark([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
}

/** Reads at most `most` bytes and returns how many are left. */
function findEndPositionsInDocuments(
  bytes: Uint8Array,
  locations: readonly LocationWithByteOffset[],
  ends: Map<Location, EndPosition>,
  maxBytes: number,
): number {
  const reader = new ByteOffsetPositionConverter(bytes)
  const trees = new PositionedTreeReader(bytes)
  let left = maxBytes
  let next = 0
  for (const document of findDocumentSpans(bytes)) {
    const { start, end } = document
    if (next === locations.length) break
    const inside: LocationWithByteOffset[] = []
    for (let location = locations[next]; location && location.byte < end; location = locations[++next])
      if (location.byte >= start) inside.push(location)
    const size = end - start
    if (inside.length === 0 || size > Math.min(maxReparsedDocumentBytes, left)) continue
    const tree = trees.read(document, reader.markOf(start))
    if (tree) addEndPositionsFromTree(tree, inside, ends)
    left -= size
  }
  return left
}

/** `before` is the last non-blank character before the text. */
function computeYamlValueLength(text: string, before: string): number {
  const whole = text.trimEnd().length
  const [first = ''] = text
  if (first === '"' || first === "'") return findEndOfQuotedString(text, 0) ?? whole
  if (first === '{' || first === '[') return findEndOfBracketedValue(text) ?? whole
  // Inside brackets, commas and brackets end a plain value.
  const end = '{[,'.includes(before) && before !== '' ? /[,\]}]|:\s|\s#/ : /\s#/
  const found = end.exec(text)?.index
  return found === undefined ? whole : text.slice(0, found).trimEnd().length
}

/** Returns the offset after the closing quote, or undefined if the quote isn't closed here. */
function findEndOfQuotedString(text: string, start: number): number | undefined {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === quote) at++
      else return at + 1
    }
  }
  return undefined
}

function findEndOfBracketedValue(text: string): number | undefined {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = findEndOfQuotedString(text, at)
      if (end === undefined) return undefined
      at = end - 1
    } else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return undefined
}
