// Reading a field of a parsed JSON object as Go's encoding/json does: names match without regard to case, several
// spellings apply in byte order, null leaves what was there. Decodes nothing and complains about nothing.
import type { Json } from './json.ts'
import { compareBytes } from '../text.ts'

/** The text of a field, or '' where it is absent, null or of another type. */
export function textField(value: Json, name: string): string {
  const values = fieldValues(value, name)
  for (let at = values.length - 1; at >= 0; at--) {
    const candidate = values[at]
    if (typeof candidate === 'string') return candidate
  }
  return ''
}

/** The values of all spellings of a field, in the order in which Go would assign them. */
export function fieldValues(value: Json, name: string): Json[] {
  if (!isObject(value)) return []
  const exact = value[name]
  const keys = Object.keys(value)
  if (exact !== undefined && keys.every((key) => key === name || key.length !== name.length)) return [exact]
  const wanted = folded(name)
  return keys
    .filter((key) => key.length === name.length && folded(key) === wanted)
    .sort(compareBytes)
    .map((key) => value[key] ?? null)
}

/** Simple case folding, as far as it can reach the letters of ASCII names: long s and the Kelvin sign are s and k. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll('ſ', 's')
}

/** Whether a value is an object of JSON: neither a list nor null. */
export function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
