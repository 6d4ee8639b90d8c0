// Rejects what YAML allows but JSON does not: odd keys, infinities, nesting beyond Go's limit.
import { compareBytes } from '../text.ts'
import { formatGoFloat } from '../number.ts'
import type { ParsedValue } from '../tree.ts'
import { YamlError } from './yaml-error.ts'

/**
 * Returns the first JSON conversion error, if any: keys first, then infinities in Go's writing order (keys sorted),
 * then nesting.
 */
export function findJsonConversionError(
  root: ParsedValue,
  badKeys: ReadonlyMap<ParsedValue, YamlError>,
  maxDepth: number,
): YamlError | undefined {
  let infinite: YamlError | undefined
  let tooDeep: YamlError | undefined
  const todo: { value: ParsedValue; depth: number }[] = [{ value: root, depth: 1 }]
  // Aliases share values, so a value is only checked again where it is nested deeper.
  const maxDepthByValue = new Map<ParsedValue, number>()
  for (let next = todo.pop(); next; next = todo.pop()) {
    const { value, depth } = next
    if (value.kind === 'number' && !Number.isFinite(value.value)) {
      infinite ??= new YamlError(`json: unsupported value: ${formatGoFloat(value.value)}`, value.start)
    }
    if (value.kind !== 'list' && value.kind !== 'map') continue
    const bad = badKeys.get(value)
    if (bad) return bad
    if ((maxDepthByValue.get(value) ?? 0) >= depth) continue
    maxDepthByValue.set(value, depth)
    if (depth > maxDepth) {
      const bracket = value.kind === 'list' ? '[' : '{'
      tooDeep ??= new YamlError(`invalid character '${bracket}' exceeded max depth`, value.start, 'decoding')
      continue
    }
    for (const child of getChildValuesReversed(value)) todo.push({ value: child, depth: depth + 1 })
  }
  return infinite ?? tooDeep
}

/**
 * Returns the error of a key below `root` that JSON cannot have, if any. Skips values in `clean` and adds valid ones.
 */
export function findInvalidJsonKeyError(
  root: ParsedValue,
  badKeys: ReadonlyMap<ParsedValue, YamlError>,
  clean: Set<ParsedValue>,
): YamlError | undefined {
  const seen: ParsedValue[] = []
  const todo = [root]
  for (let value = todo.pop(); value; value = todo.pop()) {
    if ((value.kind !== 'list' && value.kind !== 'map') || clean.has(value)) continue
    const bad = badKeys.get(value)
    if (bad) {
      for (const one of seen) clean.delete(one)
      return bad
    }
    clean.add(value)
    seen.push(value)
    if (value.kind === 'list') for (const item of value.items) todo.push(item)
    else for (const entry of value.entries) todo.push(entry.value)
  }
  return undefined
}

function getChildValuesReversed(value: ParsedValue): ParsedValue[] {
  if (value.kind === 'list') return [...value.items].reverse()
  if (value.kind !== 'map') return []
  return [...value.entries].sort((a, b) => compareBytes(b.key, a.key)).map((entry) => entry.value)
}
