// Adds end positions to the locations of findings. Facts store only start positions. End positions are read from the
// file when a finding is reported, so a catalog without findings has no cost.
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { findDocumentSpans } from './document-spans.ts'
import { PositionConverter } from './position-converter.ts'
import { PositionedTreeReader, type ByteLocation } from './positioned-tree.ts'
import { addLocationEndsInTree, maxValueLines } from './tree-ends.ts'

type EndPosition = Pick<Location, 'endLine' | 'endColumn'>

/**
 * In bytes per document. `maxTotalReparsedBytes` limits all files together. Findings in larger documents end on the line
 * where they start, to avoid parsing the documents twice. A bundle over one megabyte has a separate finding for its
 * size.
 */
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
export function addFindingEnds(
  findings: readonly Finding[],
  bytesOf: (file: string) => Uint8Array | undefined,
): Finding[] {
  const byFile = new Map<string, Location[]>()
  for (const { at } of findings)
    if (at && !(at.endLine !== undefined && at.endLine - at.line < maxValueLines)) {
      const known = byFile.get(at.file)
      if (known) known.push(at)
      else byFile.set(at.file, [at])
    }
  const ends = new Map<Location, EndPosition>()
  let left = maxTotalReparsedBytes
  for (const [file, locations] of byFile) {
    const bytes = bytesOf(file)
    if (bytes === undefined) continue
    locations.sort((a, b) => a.line - b.line || a.column - b.column)
    const found = findEndsOnLines(bytes, locations, ends)
    left = findEndsInDocuments(bytes, found, ends, left)
  }
  return findings.map((finding) => {
    const end = finding.at && ends.get(finding.at)
    if (!finding.at || !end) return finding
    const { extent: _, ...at } = finding.at
    return { ...finding, at: { ...at, ...end } }
  })
}

/** Returns the locations that exist. */
function findEndsOnLines(
  bytes: Uint8Array,
  locations: readonly Location[],
  ends: Map<Location, EndPosition>,
): ByteLocation[] {
  // In UTF-16, line ends have other bytes. Such a file is one document if it can be parsed.
  if (hasUtf16ByteOrderMark(bytes)) {
    for (const at of locations) ends.set(at, { endLine: at.line, endColumn: at.column })
    return locations.map((at) => ({ at, byte: 0 }))
  }
  const reader = new PositionConverter(bytes)
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
function findEndsInDocuments(
  bytes: Uint8Array,
  locations: readonly ByteLocation[],
  ends: Map<Location, EndPosition>,
  maxBytes: number,
): number {
  const reader = new PositionConverter(bytes)
  const trees = new PositionedTreeReader(bytes)
  let left = maxBytes
  let next = 0
  for (const document of findDocumentSpans(bytes)) {
    const { start, end } = document
    if (next === locations.length) break
    const inside: ByteLocation[] = []
    for (let location = locations[next]; location && location.byte < end; location = locations[++next])
      if (location.byte >= start) inside.push(location)
    const size = end - start
    if (inside.length === 0 || size > Math.min(maxReparsedDocumentBytes, left)) continue
    const tree = trees.read(document, reader.markOf(start))
    if (tree) addLocationEndsInTree(tree, inside, ends)
    left -= size
  }
  return left
}
