// Parses JSON by a shape that names its fields. Go ignores the case of keys and uses the last duplicate. Others use
// the first or the exact match, so one digest could mean two images. Rejects such documents.
import { RegistryError } from './registry-error.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

/** `any` is for fields that no reader uses; null counts as absent everywhere, as in Go. */
export type JsonShape =
  | 'string'
  | 'integer'
  | 'boolean'
  | 'bytes'
  | 'any'
  | { readonly list: JsonShape }
  /** Arbitrary keys. */
  | { readonly map: JsonShape }
  | { readonly fields: Readonly<Record<string, JsonShape>> }

// Go's limit is 10,000. Registry documents need six.
const maxJsonDepth = 100

/** The document without nulls. Throws a RegistryError `bad-reply` for invalid or ambiguous JSON, or another shape. */
export function parseStrictJson(body: Uint8Array, shape: JsonShape): Record<string, unknown> {
  let text: string
  try {
    // JSON has no byte order mark, and Go rejects it.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    // JSON.parse checks the grammar; the code below relies on that.
    JSON.parse(text)
  } catch (cause) {
    throw new RegistryError('bad-reply', 'the document is not valid JSON', { cause })
  }
  const data = new StrictJsonReader(text).value(shape, '', 0)
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw createInvalidResponseError('the document is not a JSON object')
  return data as Record<string, unknown>
}

/** Folds keys as encoding/json does: the long s equals s, the Kelvin sign equals k. */
function foldJsonKeyCase(key: string): string {
  return key.toUpperCase().toLowerCase()
}

class StrictJsonReader {
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Returns `undefined` for null. */
  value(shape: JsonShape, path: string, depth: number): unknown {
    if (depth > maxJsonDepth)
      throw createInvalidResponseError(`the document is nested more than ${maxJsonDepth} levels deep`)
    this.skipWhitespace()
    const first = this.text[this.at]
    if (first === '{') return this.object(shape, path, depth)
    if (first === '[') return this.array(shape, path, depth)
    return first === '"' ? this.string(shape, path) : this.scalar(shape, path)
  }

  private object(shape: JsonShape, path: string, depth: number): unknown {
    const fields =
      typeof shape === 'object' && 'fields' in shape ? getFieldsByCaseFoldedKey(shape.fields) : undefined
    const items = typeof shape === 'object' && 'map' in shape ? shape.map : 'any'
    if (shape !== 'any' && !fields && !(typeof shape === 'object' && 'map' in shape))
      throw createWrongTypeError(path)
    const keys = new Set<string>()
    const entries: [string, unknown][] = []
    for (this.at += 1; !this.closes('}');) {
      const key = this.string('string', path)
      if (keys.has(key)) throw createInvalidResponseError(`the key ${quoteJsonKey(key)} appears twice`)
      keys.add(key)
      const known = fields?.get(foldJsonKeyCase(key))
      if (known !== undefined && known.name !== key)
        throw createInvalidResponseError(
          `only some clients read the key ${quoteJsonKey(key)} as ${quoteJsonKey(known.name)}`,
        )
      this.skipWhitespace()
      this.at += 1
      const value = this.value(known?.shape ?? items, path === '' ? key : `${path}.${key}`, depth + 1)
      if (value !== undefined) entries.push([key, value])
      // Go reads an empty string. Others read nothing.
      else if (!fields && items === 'string')
        throw createInvalidResponseError(`the field ${quoteJsonKey(path)} contains a null value`)
    }
    return Object.fromEntries(entries)
  }

  private array(shape: JsonShape, path: string, depth: number): unknown {
    const isList = typeof shape === 'object' && 'list' in shape
    if (shape !== 'any' && !isList) throw createWrongTypeError(path)
    const values: unknown[] = []
    for (this.at += 1; !this.closes(']');) {
      const value = this.value(isList ? shape.list : 'any', path, depth + 1)
      if (value === undefined && isList)
        throw createInvalidResponseError(`the field ${quoteJsonKey(path)} contains a null value`)
      values.push(value ?? null)
    }
    return values
  }

  private string(shape: JsonShape, path: string): string {
    const start = this.at
    let isPlain = true
    for (this.at += 1; this.text[this.at] !== '"'; this.at += 1) {
      if (this.text[this.at] !== '\\') continue
      isPlain = false
      this.at += 1
    }
    this.at += 1
    const quoted = this.text.slice(start, this.at)
    const value = isPlain ? quoted.slice(1, -1) : (JSON.parse(quoted) as string)
    // Go replaces a lone surrogate with another character.
    if (!isPlain && /\p{Surrogate}/u.test(value))
      throw createInvalidResponseError('the document contains a lone surrogate')
    if (shape === 'bytes' && !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value))
      throw createWrongTypeError(path)
    if (shape !== 'string' && shape !== 'bytes' && shape !== 'any') throw createWrongTypeError(path)
    return value
  }

  private scalar(shape: JsonShape, path: string): unknown {
    const start = this.at
    while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at] ?? '')) this.at += 1
    const word = this.text.slice(start, this.at)
    if (word === 'null') return undefined
    const type = word === 'true' || word === 'false' ? 'boolean' : 'integer'
    // Go does not parse 1.0 and 1e3 as integers, and JavaScript loses precision beyond 2^53.
    const isWhole = /^-?(?:0|[1-9]\d*)$/.test(word) && Number.isSafeInteger(Number(word))
    if (shape !== 'any' && (shape !== type || (type === 'integer' && !isWhole)))
      throw createWrongTypeError(path)
    const value: unknown = JSON.parse(word)
    // Go rejects numbers that overflow a float. -0 equals 0 elsewhere.
    if (value === Infinity || value === -Infinity) throw createWrongTypeError(path)
    return value === 0 ? 0 : value
  }

  /** Whether the closing character is next; if not, advances to the next item. */
  private closes(end: string): boolean {
    this.skipWhitespace()
    if (this.text[this.at] === ',') {
      this.at += 1
      this.skipWhitespace()
    }
    if (this.text[this.at] !== end) return false
    this.at += 1
    return true
  }

  private skipWhitespace(): void {
    for (let code = this.text.charCodeAt(this.at); code === 32 || (code >= 9 && code <= 13);)
      code = this.text.charCodeAt((this.at += 1))
  }
}

interface JsonField {
  readonly name: string
  readonly shape: JsonShape
}

const getFieldsByCaseFoldedKey = memoizePerObject(
  (fields: Readonly<Record<string, JsonShape>>): ReadonlyMap<string, JsonField> =>
    new Map(Object.entries(fields).map(([name, shape]) => [foldJsonKeyCase(name), { name, shape }])),
)

function quoteJsonKey(key: string): string {
  return JSON.stringify(key.length > 100 ? `${key.slice(0, 100)}…` : key)
}

function createWrongTypeError(path: string): RegistryError {
  return createInvalidResponseError(
    path === '' ? 'the document is not a JSON object' : `the field ${quoteJsonKey(path)} has the wrong type`,
  )
}

function createInvalidResponseError(message: string): RegistryError {
  return new RegistryError('bad-reply', message)
}
