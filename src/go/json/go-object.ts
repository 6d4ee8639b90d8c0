// JSON texts put together as Go's json.Marshal writes structs and maps: fields in the order of the type, keys of maps by
// their bytes, HTML's three characters escaped. Takes and gives texts that are JSON already.
import { compareBytes } from '../text.ts'
import { jsonString } from './json-text.ts'

/** A text as json.Marshal writes it. */
export function goText(text: string): string {
  return jsonString(text, true)
}

/** A struct. A field without a value is one that `omitempty` leaves out. */
export function goStruct(fields: readonly (readonly [name: string, json: string | undefined])[]): string {
  return `{${fields.flatMap(([name, json]) => (json === undefined ? [] : [`${goText(name)}:${json}`])).join(',')}}`
}

/** A map. */
export function goMap(entries: Iterable<readonly [key: string, json: string]>): string {
  return goStruct([...entries].sort(([a], [b]) => compareBytes(a, b)))
}

export function goList(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** The text, or nothing where it is empty. */
export function unlessEmpty(text: string): string | undefined {
  return text === '' ? undefined : goText(text)
}

/** The list, or nothing where it is empty. */
export function unlessNone(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : goList(items)
}
