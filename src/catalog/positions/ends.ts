// Where the things end that findings point at. Facts keep only where a blob, an entry or an image begins; its end is
// read from the file when a finding is reported, so a catalog without findings pays nothing.
import type { Finding, Location } from '../../findings/finding.ts'
import { documentSpans } from './document-spans.ts'
import { ForwardReader } from './forward-reader.ts'
import { PlacedTrees, type Found } from './placed-tree.ts'
import { endsInTree, mostLines } from './tree-ends.ts'

type End = Pick<Location, 'endLine' | 'endColumn'>

/**
 * A larger document is not read a second time for where its values end, nor are more of all files together than
 * `mostReadAgain`: their findings end on their own lines. A bundle of more than a megabyte has a finding for that alone.
 */
const largestDocument = 1024 * 1024
const mostReadAgain = 16 * 1024 * 1024

/**
 * The findings, in their order, each place with an end: that of the value that begins there, over all its lines, or
 * of the key, where only a key begins there or `extent` says so. A blob of several lines, and any value of more than
 * twenty, ends with the first thing in it instead: code scanning shows a finding in a pull request only where all its lines are in
 * the diff, and nobody looks at four hundred lines to see what is meant.
 *
 * What stands in no tree (text that opm drops, a document that cannot be read) ends on its own line: with the quoted
 * text, the bracket or the plain value that begins there; so does what stands in a document that is too large. A place that does not exist ends where it begins. `bytesOf`
 * is asked once per file, and only documents with findings are read. Findings in files without bytes, with an end on
 * one of the next twenty lines, or without a place stay as they are.
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

/** Ends by the line alone; returns the places that exist. */
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

/** Document by document, each with the places that lie in it. At most `most` bytes are read; returns how many are left. */
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
