// Reads the fields of JSON values, and formats JSON values as Go does.
import { compareBytes } from '../text.ts'
import { formatJsonString } from './json-text.ts'
import type { ParsedValue } from '../tree.ts'
import { detachStringFromParent } from '../utf8.ts'

/** Far beyond real properties, but safe for JSON.stringify and recursive readers. */
const maxPlainJsonDepth = 200

/** Limits the expansion of aliases. */
const maxPlainJsonValues = 100_000
const maxPlainJsonCharacters = 4_000_000

interface JsonSizeBudget {
  values: number
  length: number
}

/** A fragment of JSON, or a whole long value as JSON or unquoted text. */
export type JsonChunk = string | { readonly json: string } | { readonly text: string }

export type JsonChunkTree = readonly JsonChunk[]

/** Sharing shorter values saves nothing. */
const minSharedJsonChunkLength = 256

// Long values that several documents share are one part, so that a writer escapes and compresses them once.
export class JsonChunkWriter {
  private readonly parts: JsonChunk[] = []
  private pending = ''
  private separator = ''

  open(bracket: '{' | '['): void {
    this.pending += this.separator + bracket
    this.separator = ''
  }

  close(bracket: '}' | ']'): void {
    this.pending += bracket
    this.separator = ','
  }

  /** Starts a field of the open object; the caller adds its value next. */
  key(name: string): void {
    this.pending += `${this.separator}${marshalString(name)}:`
    this.separator = ''
  }

  /** Adds a field with finished JSON, or nothing if undefined. */
  field(name: string, json: string | undefined): void {
    if (json === undefined) return
    this.key(name)
    if (json.length < minSharedJsonChunkLength) this.pending += json
    else this.add({ json })
    this.separator = ','
  }

  string(text: string): void {
    this.pending += this.separator
    if (text.length < minSharedJsonChunkLength) this.pending += marshalString(text)
    else this.add({ text })
    this.separator = ','
  }

  done(): JsonChunkTree {
    return this.pending === '' ? this.parts : [...this.parts, this.pending]
  }

  private add(part: JsonChunk): void {
    this.parts.push(this.pending, part)
    this.pending = ''
  }
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

// Reads fields of parsed JSON like Go's encoding/json: names ignore case, spellings apply in byte order, and null keeps
// the earlier value. Reports no problems.

/** Returns '' if the field is absent, null or of another type. */
export function getJsonStringField(value: Json, name: string): string {
  const values = getJsonFieldValuesIgnoringCase(value, name)
  for (let at = values.length - 1; at >= 0; at--) {
    const candidate = values[at]
    if (typeof candidate === 'string') return candidate
  }
  return ''
}

/** The values of all spellings of a field, in Go's order of assignment. */
export function getJsonFieldValuesIgnoringCase(value: Json, name: string): Json[] {
  if (!isJsonObject(value)) return []
  const exact = value[name]
  const keys = Object.keys(value)
  if (exact !== undefined && keys.every((key) => key === name || key.length !== name.length)) return [exact]
  const foldedName = foldFieldNameCase(name)
  return keys
    .filter((key) => key.length === name.length && foldFieldNameCase(key) === foldedName)
    .sort(compareBytes)
    .map((key) => value[key] ?? null)
}

/** Simple case folding for ASCII names: the long s and the Kelvin sign fold to s and k. */
function foldFieldNameCase(name: string): string {
  return name.toLowerCase().replaceAll('ſ', 's')
}

/** Undefined if the text is not JSON as JavaScript reads it. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

export function isJsonObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON with sorted keys, equal for equal values. */
export function toSortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    typeof entry === 'object' && entry !== null && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  )
}

// Builds JSON like Go's json.Marshal: struct fields in type order, map keys by bytes, HTML characters escaped.
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

export function joinJsonChunks(parts: JsonChunkTree): string {
  return parts.map(formatJsonChunk).join('')
}

function formatJsonChunk(part: JsonChunk): string {
  if (typeof part === 'string') return part
  return 'json' in part ? part.json : marshalString(part.text)
}

// Converts values to plain JSON data within limits on depth and size.

/**
 * Replaces the first value beyond the limits with null and omits the rest. Always keeps top-level fields that are
 * `needed`.
 */
export function toPlainJson(value: ParsedValue, needed?: (key: string) => boolean): Json {
  const budget = { values: maxPlainJsonValues, length: maxPlainJsonCharacters }
  if (value.kind !== 'map' || !needed) return convertValueToPlainJson(value, 0, budget)
  const found = new Map<string, Json>()
  for (const entry of value.entries)
    if (needed(entry.key))
      found.set(detachStringFromParent(entry.key), convertValueToPlainJson(entry.value, 1, budget))
  const others = convertValueToPlainJson(value, 0, budget) as Readonly<Record<string, Json>> | null
  return { ...others, ...Object.fromEntries(found) }
}

function convertValueToPlainJson(value: ParsedValue, depth: number, budget: JsonSizeBudget): Json {
  if (depth > maxPlainJsonDepth || budget.values-- <= 0) return null
  switch (value.kind) {
    case 'null':
      return null
    case 'bool':
    case 'number':
      return value.value
    case 'string':
      budget.length -= value.value.length
      return budget.length < 0 ? null : detachStringFromParent(value.value)
    case 'list':
      return takeItemsWithinJsonBudget(value.items, budget).map((item) =>
        convertValueToPlainJson(item, depth + 1, budget),
      )
    case 'map':
      return Object.fromEntries(
        takeItemsWithinJsonBudget(value.entries, budget).map((entry) => [
          detachStringFromParent(entry.key),
          convertValueToPlainJson(entry.value, depth + 1, budget),
        ]),
      )
  }
}

function takeItemsWithinJsonBudget<Item>(items: readonly Item[], budget: JsonSizeBudget): readonly Item[] {
  return items.length > budget.values ? items.slice(0, budget.values + 1) : items
}
