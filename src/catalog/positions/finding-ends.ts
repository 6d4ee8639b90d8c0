// Adds ends to the places of findings. Facts keep only beginnings; ends are read from the file when a finding is
// reported, so a catalog without findings costs nothing.
import type { Finding, Location } from '../../findings/finding.ts'
import { findDocumentSpans } from './document-spans.ts'
import { PositionConverter } from './position-converter.ts'
import { PositionedTreeReader, type ByteLocation } from './positioned-tree.ts'
import { addEndsInTree, maxValueLines } from './tree-ends.ts'

type LocationEnd = Pick<Location, 'endLine' | 'endColumn'>

/**
 * Bytes per document, and of all files together in `maxReparsedBytes`. Findings in larger documents end on their own line,
 * to avoid parsing them twice. A bundle of more than a megabyte has a finding for that alone.
 */
const maxDocumentBytes = 1024 * 1024
const maxReparsedBytes = 16 * 1024 * 1024

/**
 * Each place gets the end of the value that begins there, or of the key if only a key begins there or `extent` says so.
 * A blob of several lines, and any value over twenty lines, ends with the first thing in it: code scanning shows a
 * finding in a pull request only if all its lines are in the diff.
 *
 * Places outside a parsed tree (dropped text, unreadable or very large documents) end on their own line. A place that
 * doesn't exist ends where it begins. Calls `bytesOf` once per file. Findings stay as they are if they have no place or
 * no bytes, or already end within the next twenty lines.
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
  const ends = new Map<Location, LocationEnd>()
  let left = maxReparsedBytes
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

/** Returns the places that exist. */
function findEndsOnLines(
  bytes: Uint8Array,
  locations: readonly Location[],
  ends: Map<Location, LocationEnd>,
): ByteLocation[] {
  // Such files have other line ends between their bytes. They are one document, if they can be read at all.
  if (isUtf16(bytes)) {
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

function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
}

/** Reads at most `most` bytes and returns how many are left. */
function findEndsInDocuments(
  bytes: Uint8Array,
  locations: readonly ByteLocation[],
  ends: Map<Location, LocationEnd>,
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
    if (inside.length === 0 || size > Math.min(maxDocumentBytes, left)) continue
    const tree = trees.read(document, reader.markOf(start))
    if (tree) addEndsInTree(tree, inside, ends)
    left -= size
  }
  return left
}
