// The ends of what begins at places in one document, by its tree. Goes through the tree once, with a stack of its own,
// and through what aliases share once: linear in the document, however deep or wide it is.
import type { Location } from '../findings/finding.ts'
import type { Mark } from './catalog.ts'
import { TextPlaces } from './load/places.ts'
import { readTree } from './read-tree.ts'
import type { MapEntry, Value } from './tree.ts'

/** A value of more lines ends with the first thing in it: about as many as a reader takes in at a glance. */
export const mostLines = 20

/**
 * Adds ends to `ends`, of those places at which a key or a value of the document begins. `from` is where the document
 * begins in its file; places are in ascending order. Adds none where the document cannot be read.
 */
export function endsInTree(
  document: Uint8Array,
  from: Mark,
  places: readonly Location[],
  ends: Map<Location, Pick<Location, 'endLine' | 'endColumn'>>,
): void {
  const tree = readTree(document)
  if (!tree) return
  const { text, value: root } = tree
  const starts = startsOf(text, from, places)
  const begun = whatBegins(root, new Set(starts))
  const marks = new TextPlaces(text, from.line, from.column)
  const trim = trimmer(text)
  for (const [index, place] of places.entries()) {
    const start = starts[index] as number
    const { value, key } = begun.get(start) ?? {}
    if (key && (!value || place.extent === 'key')) {
      const { line, column } = marks.mark(key.keyEnd)
      ends.set(place, { endLine: line, endColumn: column })
    } else if (value) {
      const end = trim(value.end)
      const whole = marks.mark(end)
      const isLong = whole.line - place.line >= (value === root ? 1 : mostLines)
      const { line, column } = isLong ? marks.mark(endOfFirst(value, end, text)) : whole
      ends.set(place, { endLine: line, endColumn: column })
    }
  }
}

/** The offsets of places in the text, in one go. */
function startsOf(text: string, from: Mark, places: readonly Mark[]): number[] {
  let { line, column: firstColumn } = from
  let lineStart = 0
  return places.map((place) => {
    for (; line < place.line; line++) {
      const lineFeed = text.indexOf('\n', lineStart)
      lineStart = lineFeed < 0 ? text.length : lineFeed + 1
      firstColumn = 1
    }
    return lineStart + place.column - firstColumn
  })
}

interface Begun {
  value?: Value
  key?: MapEntry
}

/** The outermost value and the key that begin at each of the offsets. */
function whatBegins(root: Value, offsets: ReadonlySet<number>): Map<number, Begun> {
  const begun = new Map<number, Begun>()
  const at = (offset: number): Begun => {
    const known = begun.get(offset) ?? {}
    begun.set(offset, known)
    return known
  }
  const seen = new Set<Value>()
  const stack: Value[] = [root]
  for (let value = stack.pop(); value; value = stack.pop()) {
    if (seen.has(value)) continue
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
  return begun
}

/** The end of text before an offset without blank lines behind it: the reader counts those of a block scalar as its own. */
function trimmer(text: string): (end: number) => number {
  const known = new Map<number, number>()
  return (end) => {
    const before = known.get(end)
    if (before !== undefined) return before
    let at = end
    while (at > 0 && isBlank(text.charCodeAt(at - 1))) at--
    known.set(end, at)
    return at
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/**
 * The end of what comes first in a value, on its first line: of a field, or of its key where the field goes on below;
 * of a list's item; of the line of a text. Of the bracket where nothing stands behind it.
 */
function endOfFirst(whole: Value, end: number, text: string): number {
  const lineFeed = text.indexOf('\n', whole.start)
  const stop = lineFeed < 0 ? text.length : lineFeed
  let value = whole
  while (value.kind === 'list') {
    const [first] = value.items
    if (!first || first.start < value.start || first.start > stop) return Math.min(value.start + 1, end)
    value = first
  }
  if (value.kind !== 'map')
    return value.end <= stop ? value.end : value.start + trimmed(text, value.start, stop)
  const first = firstEntry(value.entries, value.start, stop)
  if (!first) return Math.min(value.start + 1, end)
  // What an alias stands for is written above.
  const isHere = first.value.start >= first.keyEnd && first.value.end <= stop
  return isHere ? first.value.end : first.keyEnd
}

function trimmed(text: string, start: number, stop: number): number {
  return text.slice(start, stop).trimEnd().length
}

/** The entry that is written first in `[start, stop]`: the order of entries is that of keys that come again, too. */
function firstEntry(entries: readonly MapEntry[], start: number, stop: number): MapEntry | undefined {
  let first: MapEntry | undefined
  for (const entry of entries)
    if (entry.keyStart >= start && entry.keyStart <= stop && !(first && first.keyStart <= entry.keyStart))
      first = entry
  return first
}
