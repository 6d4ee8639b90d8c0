// Converts values to plain JSON data within limits on depth and size.
import type { Json } from './json.ts'
import type { ParsedValue } from '../tree.ts'
import { detachStringFromParent } from '../utf8.ts'

/** Far beyond real properties, but safe for JSON.stringify and recursive readers. */
const maxPlainJsonDepth = 200
/** Limits the expansion of aliases. */
const maxPlainJsonValues = 100_000
const maxPlainJsonLength = 4_000_000

interface PlainJsonBudget {
  values: number
  length: number
}

/**
 * Replaces the first value beyond the limits with null and omits the rest. Always keeps top-level fields that are
 * `needed`.
 */
export function toPlainJson(value: ParsedValue, needed?: (key: string) => boolean): Json {
  const budget = { values: maxPlainJsonValues, length: maxPlainJsonLength }
  if (value.kind !== 'map' || !needed) return convertValueToPlainJson(value, 0, budget)
  const found = new Map<string, Json>()
  for (const entry of value.entries)
    if (needed(entry.key))
      found.set(detachStringFromParent(entry.key), convertValueToPlainJson(entry.value, 1, budget))
  const others = convertValueToPlainJson(value, 0, budget) as Readonly<Record<string, Json>> | null
  return { ...others, ...Object.fromEntries(found) }
}

function convertValueToPlainJson(value: ParsedValue, depth: number, budget: PlainJsonBudget): Json {
  if (depth > maxPlainJsonDepth || budget.values-- <= 0) return null
  switch (value.kind) {
    case 'null':
      return null
    case 'bool':
    case 'number':
      return value.value
    case 'string':
      budget.length -= value.value.length
      return budget.length < 0 ? null : detachStringFromParent(value.value)
    case 'list':
      return takeItemsWithinBudget(value.items, budget).map((item) =>
        convertValueToPlainJson(item, depth + 1, budget),
      )
    case 'map':
      return Object.fromEntries(
        takeItemsWithinBudget(value.entries, budget).map((entry) => [
          detachStringFromParent(entry.key),
          convertValueToPlainJson(entry.value, depth + 1, budget),
        ]),
      )
  }
}

function takeItemsWithinBudget<Item>(items: readonly Item[], budget: PlainJsonBudget): readonly Item[] {
  return items.length > budget.values ? items.slice(0, budget.values + 1) : items
}
