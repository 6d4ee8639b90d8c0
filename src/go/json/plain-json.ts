// Converts values to plain JSON data within limits on depth and size.
import type { Json } from './json.ts'
import type { Value } from '../tree.ts'
import { ownCopy } from '../utf8.ts'

/** Far beyond real properties, but safe for JSON.stringify and recursive readers. */
const maxDepth = 200
/** Limits the expansion of aliases. */
const maxValues = 100_000
const maxLength = 4_000_000

interface Budget {
  values: number
  length: number
}

/**
 * Replaces the first value beyond the limits with null and omits the rest. Always keeps top-level fields that are
 * `needed`.
 */
export function plainJson(value: Value, needed?: (key: string) => boolean): Json {
  const budget = { values: maxValues, length: maxLength }
  if (value.kind !== 'map' || !needed) return convert(value, 0, budget)
  const found = new Map<string, Json>()
  for (const entry of value.entries)
    if (needed(entry.key)) found.set(ownCopy(entry.key), convert(entry.value, 1, budget))
  const others = convert(value, 0, budget) as Readonly<Record<string, Json>> | null
  return { ...others, ...Object.fromEntries(found) }
}

function convert(value: Value, depth: number, budget: Budget): Json {
  if (depth > maxDepth || budget.values-- <= 0) return null
  switch (value.kind) {
    case 'null':
      return null
    case 'bool':
    case 'number':
      return value.value
    case 'string':
      budget.length -= value.value.length
      return budget.length < 0 ? null : ownCopy(value.value)
    case 'list':
      return within(value.items, budget).map((item) => convert(item, depth + 1, budget))
    case 'map':
      return Object.fromEntries(
        within(value.entries, budget).map((entry) => [
          ownCopy(entry.key),
          convert(entry.value, depth + 1, budget),
        ]),
      )
  }
}

function within<Item>(items: readonly Item[], budget: Budget): readonly Item[] {
  return items.length > budget.values ? items.slice(0, budget.values + 1) : items
}
