// A JSON value as the text that it shares with every value of the same meaning.
import type { Json } from './json.ts'

/** JSON with sorted keys: the order of keys says nothing. */
export function canonicalText(value: Json): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'object' && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  )
}
