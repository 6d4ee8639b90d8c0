// JSON put together as Go's json.Marshal writes structs and maps: fields in the order of the type, keys of maps by their
// bytes, HTML's three characters escaped. Takes and gives texts that are JSON already.
import { compareBytes } from '../text.ts'
import { jsonString } from './json-text.ts'

/** A text in quotes. */
export function marshalString(text: string): string {
  return jsonString(text, true)
}

/** A struct, whose fields have plain names. Undefined is a field that `omitempty` leaves out. */
export function marshalObject(fields: Iterable<readonly [name: string, json: string | undefined]>): string {
  let text = ''
  for (const [name, json] of fields)
    if (json !== undefined) text += `${text === '' ? '' : ','}"${name}":${json}`
  return `{${text}}`
}

export function marshalMap(entries: Iterable<readonly [key: string, json: string]>): string {
  const sorted = [...entries].sort(([a], [b]) => compareBytes(a, b))
  return `{${sorted.map(([key, json]) => `${marshalString(key)}:${json}`).join(',')}}`
}

export function marshalList(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** The text in quotes; undefined where it is empty. */
export function unlessEmpty(text: string): string | undefined {
  return text === '' ? undefined : marshalString(text)
}

/** The list; undefined where it is empty. */
export function unlessNone(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : marshalList(items)
}
