// Compares values regardless of key order.
import type { Json } from '../../go/json/json.ts'
import { isObject } from '../../go/json/json-fields.ts'

export function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    const [one, other] = [a as readonly Json[], b as readonly Json[]]
    return one.length === other.length && one.every((item, at) => sameJson(item, other[at] ?? null))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] ?? null, b[key] ?? null))
  )
}
