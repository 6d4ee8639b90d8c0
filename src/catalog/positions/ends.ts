// Adds ends to the places of findings. Facts keep only beginnings; ends are read from the file when a finding is
// reported, so a catalog without findings costs nothing.
import type { Finding, Location } from '../../findings/finding.ts'
import { documentSpans } from './document-spans.ts'
import { ForwardReader } from './forward-reader.ts'
import { PlacedTrees, type Found } from './placed-tree.ts'
import { endsInTree, mostLines } from './tree-ends.ts'

type End = Pick<Location, 'endLine' | 'endColumn'>

/**
 * Bytes per document, and of all files together in `mostReadAgain`. Findings in larger documents end on their own line,
 * to avoid parsing them twice. A bundle of more than a megabyte has a finding for that alone.
 */
const largestDocument = 1024 * 1024
const mostReadAgain = 16 * 1024 * 1024

/**
 * Each place gets the end of the value that begins there, or of the key if only a key begins there or `extent` says so.
 * A blob of several lines, and any value over twenty lines, ends with the first thing in it: code scanning shows a
 * finding in a pull request only if all its lines are in the diff.
 *
 * Places outside a parsed tree (dropped text, unreadable or very large documents) end on their own line. A place that
 * doesn't exist ends where it begins. Calls `bytesOf` once per file. Findings stay as they are if they have no place or
 * no bytes, or already end within the next twenty lines.
 */
export function withEnds(
  findings: readonly Finding[],
  bytesOf: (file: string) => Uint8Array | undefined,
): Finding[] {
  const byFile = new Map<string, Location[]>()
  for (const { at } of findings)
    if (at && !(at.endLine !== undefined && at.endLine - at.line < mostLines)) {
      const known = byFile.get(at.file)
      if (known) known.push(at)
      else byFile.set(at.file, [at])
    }
  const ends = new Map<Location, End>()
  let left = mostReadAgain
  for (const [file, places] of byFile) {
    const bytes = bytesOf(file)
    if (bytes === undefined) continue
    places.sort((a, b) => a.line - b.line || a.column - b.column)
    const found = endsOnLines(bytes, places, ends)
    left = endsInTrees(bytes, found, ends, left)
  }
  return findings.map((finding) => {
    const end = finding.at && ends.get(finding.at)
    if (!finding.at || !end) return finding
    const { extent: _, ...at } = finding.at
    return { ...finding, at: { ...at, ...end } }
  })
}

/** Returns the places that exist. */
function endsOnLines(bytes: Uint8Array, places: readonly Location[], ends: Map<Location, End>): Found[] {
  // Such files have other line ends between their bytes. They are one document, if they can be read at all.
  if (isUtf16(bytes)) {
    for (const at of places) ends.set(at, { endLine: at.line, endColumn: at.column })
    return places.map((at) => ({ at, byte: 0 }))
  }
  const reader = new ForwardReader(bytes)
  return places.flatMap((at) => {
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
function endsInTrees(
  bytes: Uint8Array,
  places: readonly Found[],
  ends: Map<Location, End>,
  most: number,
): number {
  const reader = new ForwardReader(bytes)
  const trees = new PlacedTrees(bytes)
  let left = most
  let next = 0
  for (const document of documentSpans(bytes)) {
    const { start, end } = document
    if (next === places.length) break
    const inside: Found[] = []
    for (let place = places[next]; place && place.byte < end; place = places[++next])
      if (place.byte >= start) inside.push(place)
    const size = end - start
    if (inside.length === 0 || size > Math.min(largestDocument, left)) continue
    const tree = trees.read(document, reader.markOf(start))
    if (tree) endsInTree(tree, inside, ends)
    left -= size
  }
  return left
}
