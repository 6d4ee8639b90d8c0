// Finds the location of a path in a document, for rules that do not store a location.
import type { Location } from '@catalog-bot/findings/finding'
import { TextPositionLookup, type PositionLookup } from '../go/position-lookup.ts'
import { parseYamlDocumentTree } from '../go/yaml/read-yaml.ts'
import type { MapEntry, ParsedValue } from '../go/tree.ts'
import { decodeUtf8LikeGo } from '../go/utf8.ts'

/**
 * Reads the document (byte offsets `start` to `end`) once. Matches names exactly, then case-insensitively.
 * Returns the deepest location that exists, or the first line of an unreadable document.
 */
export function createFieldPathLocator(
  bytes: Uint8Array,
  start: number,
  end: number,
): (path: readonly (string | number)[]) => Omit<Location, 'file'> {
  const { line, column } = computePositionAtByteOffset(bytes, start)
  const document = parseYamlDocumentTree(bytes.subarray(start, end))
  if (!document) return () => ({ line, column })
  return createTreeFieldPathLocator(document.value, new TextPositionLookup(document.text, line, column))
}

/** For a document that is already parsed. `places` belongs to its tree. */
export function createTreeFieldPathLocator(
  root: ParsedValue,
  positions: PositionLookup,
): (path: readonly (string | number)[]) => Omit<Location, 'file'> {
  return (path) => {
    const span = findByteSpanAtFieldPath(root, path)
    const from = positions.positionAt(span.start)
    const to = positions.positionAt(Math.max(span.start, span.end))
    return { ...from, endLine: to.line, endColumn: to.column }
  }
}

function computePositionAtByteOffset(bytes: Uint8Array, offset: number): { line: number; column: number } {
  let line = 1
  let lineStart = 0
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < offset; at = bytes.indexOf(0x0a, at + 1)) {
    line++
    lineStart = at + 1
  }
  return { line, column: decodeUtf8LikeGo(bytes.subarray(lineStart, offset)).length + 1 }
}

function findByteSpanAtFieldPath(root: ParsedValue, path: readonly (string | number)[]) {
  let value = root
  let span: { start: number; end: number } = root
  for (const step of path) {
    if (typeof step === 'number') {
      const item = value.kind === 'list' ? value.items[step] : undefined
      if (!item) break
      value = item
      span = item
    } else {
      const entry = findMapEntryIgnoringCase(value, step)
      if (!entry) break
      value = entry.value
      span = { start: entry.keyStart, end: Math.max(entry.keyEnd, entry.value.end) }
    }
  }
  return span
}

function findMapEntryIgnoringCase(value: ParsedValue, key: string): MapEntry | undefined {
  if (value.kind !== 'map') return undefined
  return (
    value.entries.findLast((entry) => entry.key === key) ??
    value.entries.findLast((entry) => entry.key.toLowerCase() === key.toLowerCase())
  )
}
