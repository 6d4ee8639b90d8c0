// Values as plain JSON data, cut off where they are nested too deep or too large to be a fact worth keeping.
import type { Json } from '../catalog.ts'
import type { Value } from '../tree.ts'
import { ownCopy } from '../utf8.ts'

/** Far beyond any real property; JSON.stringify and readers that recurse must survive it. */
const maxDepth = 200
/** Values behind aliases are unfolded here, so their number and their length need a bound. */
const maxValues = 100_000
const maxLength = 4_000_000

/** The value as data; what lies beyond the bounds becomes null. */
export function plainJson(value: Value): Json {
  const budget = { values: maxValues, length: maxLength }
  return convert(value, 0, budget)
}

function convert(value: Value, depth: number, budget: { values: number; length: number }): Json {
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
      return value.items.map((item) => convert(item, depth + 1, budget))
    case 'map':
      return Object.fromEntries(
        value.entries.map((entry) => [ownCopy(entry.key), convert(entry.value, depth + 1, budget)]),
      )
  }
}
