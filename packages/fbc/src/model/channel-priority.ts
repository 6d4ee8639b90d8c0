// The `priority` of a bundle's `olm.channel` property: an integer until opm v1.73.0, unknown to later ones.
import type { Property } from '../facts/catalog.ts'
import type { Json } from '../go/json/json.ts'
import { getJsonFieldValues } from '../go/json/json-fields.ts'

/** Go's error for a priority that isn't an integer. */
export function findPriorityError(property: Property): string | undefined {
  if (property.type !== 'olm.channel') return undefined
  const wrong = getJsonFieldValues(property.value, 'priority').find((value) => !isInteger(value))
  if (wrong === undefined) return undefined
  return `json: cannot unmarshal ${getGoKind(wrong)} into Go struct field Channel.priority of type int`
}

/** From 1e21 on, Go writes a JSON number with an exponent, which no integer field accepts. */
function isInteger(value: Json): boolean {
  return value === null || (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 63)
}

function getGoKind(value: Json): string {
  if (typeof value === 'number') return `number ${value}`
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return Array.isArray(value) ? 'array' : 'object'
}
