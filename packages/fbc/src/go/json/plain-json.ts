// Converts values to plain JSON data within limits on depth and size.
import type { Json } from './json.ts'
import type { Value } from '../tree.ts'
import { copyString } from '../utf8.ts'

/** Far beyond real properties, but safe for JSON.stringify and recursive readers. */
const maxDepth = 200
/** Limits the expansion of aliases. */
const maxValues = 100_000
const maxLength = 4_000_000

interface PlainJsonBudget {
  values: number
  length: number
}

/**
 * Replaces the first value beyond the limits with null and omits the rest. Always keeps top-level fields that are
 * `needed`.
 */
export function toPlainJson(value: Value, needed?: (key: string) => boolean): Json {
  const budget = { values: maxValues, length: maxLength }
  if (value.kind !== 'map' || !needed) return convertValue(value, 0, budget)
  const found = new Map<string, Json>()
  for (const entry of value.entries)
    if (needed(entry.key)) found.set(copyString(entry.key), convertValue(entry.value, 1, budget))
  const others = convertValue(value, 0, budget) as Readonly<Record<string, Json>> | null
  return { ...others, ...Object.fromEntries(found) }
}

function convertValue(value: Value, depth: number, budget: PlainJsonBudget): Json {
  if (depth > maxDepth || budget.values-- <= 0) return null
  switch (value.kind) {
    case 'null':
      return null
    case 'bool':
    case 'number':
      return value.value
    case 'string':
      budget.length -= value.value.length
      return budget.length < 0 ? null : copyString(value.value)
    case 'list':
      return takeWithinBudget(value.items, budget).map((item) => convertValue(item, depth + 1, budget))
    case 'map':
      return Object.fromEntries(
        takeWithinBudget(value.entries, budget).map((entry) => [
          copyString(entry.key),
          convertValue(entry.value, depth + 1, budget),
        ]),
      )
  }
}

function takeWithinBudget<Item>(items: readonly Item[], budget: PlainJsonBudget): readonly Item[] {
  return items.length > budget.values ? items.slice(0, budget.values + 1) : items
}
