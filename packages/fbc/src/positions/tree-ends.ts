// Finds the ends of values in one document. It is iterative and visits aliased values once, so its time is linear.
import type { Location } from '@catalog-bot/findings/finding'
import type { LocationWithByteOffset, PositionedTree } from './positioned-tree.ts'
import type { MapEntry, TextSpan, ParsedValue } from '../go/tree.ts'

/** In lines. A longer value ends with its first part, because a reader cannot see more at a glance. */
export const maxHighlightedValueLines = 20

/** Adds the ends of keys and values that start at `places` (ascending) to `ends`. */
export function addEndPositionsFromTree(
  tree: PositionedTree,
  locations: readonly LocationWithByteOffset[],
  ends: Map<Location, Pick<Location, 'endLine' | 'endColumn'>>,
): void {
  const { root } = tree
  const starts = tree.offsetsOf(locations)
  const nodes = findNodesAtOffsets(tree, starts)
  const trim = createTrailingWhitespaceTrimmer(tree)
  for (const [index, { at: location }] of locations.entries()) {
    const start = starts[index] as number
    const { value, key } = nodes.get(start) ?? {}
    if (key && (!value || location.extent === 'key')) {
      const { line, column } = tree.mark(key.keyEnd)
      ends.set(location, { endLine: line, endColumn: column })
    } else if (value) {
      const end = trim(value.end)
      const whole = tree.mark(end)
      const isLong = whole.line - location.line >= (value === root ? 1 : maxHighlightedValueLines)
      const { line, column } = isLong ? tree.mark(findEndOfFirstValueLine(value, end, tree)) : whole
      ends.set(location, { endLine: line, endColumn: column })
    }
  }
}

interface ValueOrKeyAtOffset {
  value?: ParsedValue
  key?: MapEntry
}

/** The outermost value and the key at each offset; offsets are ascending. */
function findNodesAtOffsets(
  { root, isNested }: PositionedTree,
  ascending: readonly number[],
): Map<number, ValueOrKeyAtOffset> {
  const offsets = new Set(ascending)
  const nodes = new Map<number, ValueOrKeyAtOffset>()
  const at = (offset: number): ValueOrKeyAtOffset => {
    const known = nodes.get(offset) ?? {}
    nodes.set(offset, known)
    return known
  }
  const seen = new Set<ParsedValue>()
  const stack: ParsedValue[] = [root]
  for (let value = stack.pop(); value; value = stack.pop()) {
    // Recurring parts of a file are parsed lazily (packages/fbc/src/go/fast/recurring-values.ts), so this does not read them unless
    // necessary.
    if (seen.has(value) || (isNested && !hasOffsetInSpan(ascending, value))) continue
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
  return nodes
}

/** `ascending` is sorted. The end of the span is included. */
function hasOffsetInSpan(ascending: readonly number[], { start, end }: TextSpan): boolean {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] as number) < start) low = middle + 1
    else high = middle
  }
  return low < ascending.length && (ascending[low] as number) <= end
}

/** Excludes trailing blank lines, which the reader counts as part of a block scalar. */
function createTrailingWhitespaceTrimmer(tree: PositionedTree): (end: number) => number {
  const known = new Map<number, number>()
  return (end) => {
    const before = known.get(end)
    if (before !== undefined) return before
    const at = trimTrailingWhitespace(tree, 0, end)
    known.set(end, at)
    return at
  }
}

function trimTrailingWhitespace(tree: PositionedTree, start: number, end: number): number {
  let at = end
  while (at > start && isWhitespace(tree.codeAt(at - 1))) at--
  return at
}

function isWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/**
 * The end of the first part of a value, on its first line. The part is a field (or its key if the field continues
 * below), a list item, a line of text, or the bracket if nothing follows it.
 */
function findEndOfFirstValueLine(whole: ParsedValue, end: number, tree: PositionedTree): number {
  const stop = tree.lineEnd(whole.start)
  let value = whole
  while (value.kind === 'list') {
    const [first] = value.items
    if (!first || first.start < value.start || first.start > stop) return Math.min(value.start + 1, end)
    value = first
  }
  if (value.kind !== 'map')
    return value.end <= stop ? value.end : trimTrailingWhitespace(tree, value.start, stop)
  const first = findFirstMapEntryInRange(value.entries, value.start, stop)
  if (!first) return Math.min(value.start + 1, end)
  // An alias points to a value further up.
  const isHere = first.value.start >= first.keyEnd && first.value.end <= stop
  return isHere ? first.value.end : first.keyEnd
}

/** By position in `[start, stop]`: entry order differs for duplicate keys. */
function findFirstMapEntryInRange(
  entries: readonly MapEntry[],
  start: number,
  stop: number,
): MapEntry | undefined {
  let first: MapEntry | undefined
  for (const entry of entries)
    if (entry.keyStart >= start && entry.keyStart <= stop && !(first && first.keyStart <= entry.keyStart))
      first = entry
  return first
}
