// Compares values regardless of key order.
import type { Json } from '../go/json/json.ts'
import { isJsonObject } from '../go/json/json-fields.ts'

export function areJsonValuesEqual(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    const [one, other] = [a as readonly Json[], b as readonly Json[]]
    return one.length === other.length && one.every((item, at) => areJsonValuesEqual(item, other[at] ?? null))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && areJsonValuesEqual(a[key] ?? null, b[key] ?? null))
  )
}
