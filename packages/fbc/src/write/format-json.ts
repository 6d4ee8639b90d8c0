// Formats blobs as JSON exactly as opm writes them, as consecutive objects indented by four spaces.
import type { Json } from '../go/json/json.ts'
import { escapeHtmlInJson } from '../go/json/json-text.ts'
import { formatJsonNumber } from '../go/number.ts'
import { compareBytes } from '../go/text.ts'
import { sortBlobsForWriting } from './blob-order.ts'
import type { JsonObject, WritableCatalog } from './writable-catalog.ts'

/** The catalog as `opm render -o json` prints it. */
export function formatCatalogJson(catalog: WritableCatalog): string {
  return sortBlobsForWriting(catalog)
    .map((blob) => `${formatIndentedJsonValue(blob, '')}\n`)
    .join('')
}

/** Every blob in load order, one per line, including those that opm would not write. Used to read the catalog again. */
export function formatCatalogAsJsonLines(catalog: WritableCatalog): string {
  const { packages, channels, bundles, deprecations, others } = catalog
  return [...packages, ...channels, ...bundles, ...deprecations, ...others.map(({ value }) => value)]
    .map((blob) => `${JSON.stringify(blob)}\n`)
    .join('')
}

/** Any value as json.MarshalIndent writes it for opm, with `<`, `>`, and `&` escaped. They occur only in strings. */
export function marshalIndentLikeGo(value: Json): string {
  return escapeHtmlInJson(formatIndentedJsonValue(value, ''))
}

function formatIndentedJsonValue(value: Json, indent: string): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return quoteJsonString(value)
  if (typeof value === 'number') return formatJsonNumber(value)
  if (typeof value === 'boolean') return String(value)
  const inner = `${indent}    `
  if (Array.isArray(value)) {
    const items = value as readonly Json[]
    if (items.length === 0) return '[]'
    return `[\n${items.map((item) => inner + formatIndentedJsonValue(item, inner)).join(',\n')}\n${indent}]`
  }
  const entries = getFieldsInGoOrder(value as JsonObject)
  if (entries.length === 0) return '{}'
  return `{\n${entries.map(([key, item]) => `${inner}${quoteJsonString(key)}: ${formatIndentedJsonValue(item, inner)}`).join(',\n')}\n${indent}}`
}

/** JavaScript puts keys that look like array indexes first. They occur only where opm sorts all keys by bytes. */
function getFieldsInGoOrder(value: JsonObject): [string, Json][] {
  const entries = Object.entries(value)
  return /^\d+$/.test(entries[0]?.[0] ?? '') ? entries.sort(([a], [b]) => compareBytes(a, b)) : entries
}

/** Go escapes the two line separators even without HTML escaping. It escapes control characters like JSON.stringify. */
function quoteJsonString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(/[\u2028\u2029]/g, (character) =>
    character === '\u2028' ? '\\u2028' : '\\u2029',
  )
}
