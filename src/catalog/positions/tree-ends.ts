// The ends of what begins at places in one document, by its tree. Goes through the tree once, with a stack of its own,
// and through what aliases share once: linear in the document, however deep or wide it is.
import type { Location } from '../../findings/finding.ts'
import type { Found, PlacedTree } from './placed-tree.ts'
import type { MapEntry, Span, Value } from '../../go/tree.ts'

/** A value of more lines ends with the first thing in it: about as many as a reader takes in at a glance. */
export const mostLines = 20

/** Adds ends to `ends`, of those places at which a key or a value of the tree begins. Places are in ascending order. */
export function endsInTree(
  tree: PlacedTree,
  places: readonly Found[],
  ends: Map<Location, Pick<Location, 'endLine' | 'endColumn'>>,
): void {
  const { root } = tree
  const starts = tree.offsetsOf(places)
  const begun = whatBegins(tree, starts)
  const trim = trimmer(tree)
  for (const [index, { at: place }] of places.entries()) {
    const start = starts[index] as number
    const { value, key } = begun.get(start) ?? {}
    if (key && (!value || place.extent === 'key')) {
      const { line, column } = tree.mark(key.keyEnd)
      ends.set(place, { endLine: line, endColumn: column })
    } else if (value) {
      const end = trim(value.end)
      const whole = tree.mark(end)
      const isLong = whole.line - place.line >= (value === root ? 1 : mostLines)
      const { line, column } = isLong ? tree.mark(endOfFirst(value, end, tree)) : whole
      ends.set(place, { endLine: line, endColumn: column })
    }
  }
}

interface Begun {
  value?: Value
  key?: MapEntry
}

/** The outermost value and the key that begin at each of the offsets, which are in ascending order. */
function whatBegins({ root, isNested }: PlacedTree, ascending: readonly number[]): Map<number, Begun> {
  const offsets = new Set(ascending)
  const begun = new Map<number, Begun>()
  const at = (offset: number): Begun => {
    const known = begun.get(offset) ?? {}
    begun.set(offset, known)
    return known
  }
  const seen = new Set<Value>()
  const stack: Value[] = [root]
  for (let value = stack.pop(); value; value = stack.pop()) {
    // What recurs in a file is read only when somebody looks into it (go/fast/recurring.ts).
    if (seen.has(value) || (isNested && !hasWithin(ascending, value))) continue
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

/** Whether one of the numbers, which are in ascending order, is in a span or at its end. */
function hasWithin(ascending: readonly number[], { start, end }: Span): boolean {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] as number) < start) low = middle + 1
    else high = middle
  }
  return low < ascending.length && (ascending[low] as number) <= end
}

/** The end of text before an offset without blank lines behind it: the reader counts those of a block scalar as its own. */
function trimmer(tree: PlacedTree): (end: number) => number {
  const known = new Map<number, number>()
  return (end) => {
    const before = known.get(end)
    if (before !== undefined) return before
    const at = trimmed(tree, 0, end)
    known.set(end, at)
    return at
  }
}

/** Where the text of `[start, end)` ends without the blanks at its end. */
function trimmed(tree: PlacedTree, start: number, end: number): number {
  let at = end
  while (at > start && isBlank(tree.codeAt(at - 1))) at--
  return at
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/**
 * The end of what comes first in a value, on its first line: of a field, or of its key where the field goes on below;
 * of a list's item; of the line of a text. Of the bracket where nothing stands behind it.
 */
function endOfFirst(whole: Value, end: number, tree: PlacedTree): number {
  const stop = tree.lineEnd(whole.start)
  let value = whole
  while (value.kind === 'list') {
    const [first] = value.items
    if (!first || first.start < value.start || first.start > stop) return Math.min(value.start + 1, end)
    value = first
  }
  if (value.kind !== 'map') return value.end <= stop ? value.end : trimmed(tree, value.start, stop)
  const first = firstEntry(value.entries, value.start, stop)
  if (!first) return Math.min(value.start + 1, end)
  // What an alias stands for is written above.
  const isHere = first.value.start >= first.keyEnd && first.value.end <= stop
  return isHere ? first.value.end : first.keyEnd
}

/** The entry that is written first in `[start, stop]`: the order of entries is that of keys that come again, too. */
function firstEntry(entries: readonly MapEntry[], start: number, stop: number): MapEntry | undefined {
  let first: MapEntry | undefined
  for (const entry of entries)
    if (entry.keyStart >= start && entry.keyStart <= stop && !(first && first.keyStart <= entry.keyStart))
      first = entry
  return first
}
