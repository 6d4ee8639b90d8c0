// Builds JSON from finished JSON parts like Go's json.Marshal: struct fields in type order, map keys sorted by bytes,
// HTML characters escaped.
import { compareBytes } from '../text.ts'
import { formatJsonString } from './json-text.ts'

export function marshalString(text: string): string {
  return formatJsonString(text, true)
}

/** Field names must need no escapes. Omits undefined fields (`omitempty`). */
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

export function marshalNonEmptyString(text: string): string | undefined {
  return text === '' ? undefined : marshalString(text)
}

export function marshalNonEmptyList(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : marshalList(items)
}
