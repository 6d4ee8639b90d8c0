// Values as plain JSON data, cut off where they are nested too deep or too large to be a fact worth keeping.
import type { Json } from '../catalog.ts'
import type { Value } from '../tree.ts'
import { ownCopy } from '../utf8.ts'

/** Far beyond any real property; JSON.stringify and readers that recurse must survive it. */
const maxDepth = 200
/** Values behind aliases are unfolded here, so their number needs a bound. */
const maxValues = 100_000

/** The value as data; what lies beyond the bounds becomes null. */
export function plainJson(value: Value): Json {
  const budget = { left: maxValues }
  return convert(value, 0, budget)
}

function convert(value: Value, depth: number, budget: { left: number }): Json {
  if (depth > maxDepth || budget.left-- <= 0) return null
  switch (value.kind) {
    case 'null':
      return null
    case 'bool':
    case 'number':
      return value.value
    case 'string':
      return ownCopy(value.value)
    case 'list':
      return value.items.map((item) => convert(item, depth + 1, budget))
    case 'map':
      return Object.fromEntries(
        value.entries.map((entry) => [ownCopy(entry.key), convert(entry.value, depth + 1, budget)]),
      )
  }
}
