// Values as plain JSON data, cut off where they are nested too deep or too large to be a fact worth keeping.
import type { Json } from './json.ts'
import type { Value } from '../tree.ts'
import { ownCopy } from '../utf8.ts'

/** Far beyond any real property; JSON.stringify and readers that recurse must survive it. */
const maxDepth = 200
/** Values behind aliases are unfolded here, so their number and their length need a bound. */
const maxValues = 100_000
const maxLength = 4_000_000

interface Budget {
  values: number
  length: number
}

/**
 * The value as data; of what lies beyond the bounds the first is null, and the rest is left out. Fields of the value
 * itself that are `needed` are there, however much stands before them.
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
