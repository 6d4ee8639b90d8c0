// Reads fields of parsed JSON like Go's encoding/json: names ignore case, spellings apply in byte order, and null keeps
// the earlier value. Reports no problems.
import type { Json } from './json.ts'
import { compareBytes } from '../text.ts'

/** Returns '' if the field is absent, null or of another type. */
export function getJsonStringField(value: Json, name: string): string {
  const values = getJsonFieldValues(value, name)
  for (let at = values.length - 1; at >= 0; at--) {
    const candidate = values[at]
    if (typeof candidate === 'string') return candidate
  }
  return ''
}

/** The values of all spellings of a field, in Go's order of assignment. */
export function getJsonFieldValues(value: Json, name: string): Json[] {
  if (!isJsonObject(value)) return []
  const exact = value[name]
  const keys = Object.keys(value)
  if (exact !== undefined && keys.every((key) => key === name || key.length !== name.length)) return [exact]
  const wanted = foldFieldNameCase(name)
  return keys
    .filter((key) => key.length === name.length && foldFieldNameCase(key) === wanted)
    .sort(compareBytes)
    .map((key) => value[key] ?? null)
}

/** Simple case folding for ASCII names: the long s and the Kelvin sign fold to s and k. */
function foldFieldNameCase(name: string): string {
  return name.toLowerCase().replaceAll('ſ', 's')
}

export function isJsonObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
