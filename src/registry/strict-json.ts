// JSON parsed by a shape that names its fields. Go ignores the case of keys and takes the last duplicate; others take
// the first or the exact one, so one digest could mean two images. Such documents are rejected.
import { RegistryError } from './registry-error.ts'
import { oncePer } from '../findings/once.ts'

/** `any` is for fields that no reader uses; null counts as absent everywhere, as in Go. */
export type Shape =
  | 'string'
  | 'integer'
  | 'boolean'
  | 'bytes'
  | 'any'
  | { readonly list: Shape }
  /** Arbitrary keys. */
  | { readonly map: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> }

// Go's limit is 10,000; registry documents need six.
const deepest = 100

/** The document without nulls. Throws a RegistryError `bad-reply` for invalid or ambiguous JSON, or another shape. */
export function parseStrictJson(body: Uint8Array, shape: Shape): Record<string, unknown> {
  let text: string
  try {
    // JSON has no byte order mark, and Go rejects it.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    // JSON.parse checks the grammar; the code below relies on that.
    JSON.parse(text)
  } catch (cause) {
    throw new RegistryError('bad-reply', 'its document is not JSON', { cause })
  }
  const data = new Reader(text).value(shape, '', 0)
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw badReply('its document is not an object')
  return data as Record<string, unknown>
}

/** Folds keys as encoding/json does: the long s equals s, the Kelvin sign equals k. */
function foldedKey(key: string): string {
  return key.toUpperCase().toLowerCase()
}

class Reader {
  private at = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** `undefined` is null. */
  value(shape: Shape, place: string, depth: number): unknown {
    if (depth > deepest) throw badReply(`its document is more than ${deepest} levels deep`)
    this.skipBlanks()
    const first = this.text[this.at]
    if (first === '{') return this.object(shape, place, depth)
    if (first === '[') return this.array(shape, place, depth)
    return first === '"' ? this.string(shape, place) : this.scalar(shape, place)
  }

  private object(shape: Shape, place: string, depth: number): unknown {
    const fields = typeof shape === 'object' && 'fields' in shape ? foldedFields(shape.fields) : undefined
    const items = typeof shape === 'object' && 'map' in shape ? shape.map : 'any'
    if (shape !== 'any' && !fields && !(typeof shape === 'object' && 'map' in shape)) throw wrongType(place)
    const keys = new Set<string>()
    const entries: [string, unknown][] = []
    for (this.at += 1; !this.closes('}');) {
      const key = this.string('string', place)
      if (keys.has(key)) throw badReply(`it says ${named(key)} twice`)
      keys.add(key)
      const known = fields?.get(foldedKey(key))
      if (known !== undefined && known.name !== key)
        throw badReply(`its key ${named(key)} is ${named(known.name)} to some readers, and not to others`)
      this.skipBlanks()
      this.at += 1
      const value = this.value(known?.shape ?? items, place === '' ? key : `${place}.${key}`, depth + 1)
      if (value !== undefined) entries.push([key, value])
      // Go reads an empty string, others nothing.
      else if (!fields && items === 'string') throw badReply(`its ${named(place)} has an empty place`)
    }
    return Object.fromEntries(entries)
  }

  private array(shape: Shape, place: string, depth: number): unknown {
    const isList = typeof shape === 'object' && 'list' in shape
    if (shape !== 'any' && !isList) throw wrongType(place)
    const values: unknown[] = []
    for (this.at += 1; !this.closes(']');) {
      const value = this.value(isList ? shape.list : 'any', place, depth + 1)
      if (value === undefined && isList) throw badReply(`its ${named(place)} has an empty place`)
      values.push(value ?? null)
    }
    return values
  }

  private string(shape: Shape, place: string): string {
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
    if (!isPlain && /\p{Surrogate}/u.test(value)) throw badReply('it has half a character')
    if (shape === 'bytes' && !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value))
      throw wrongType(place)
    if (shape !== 'string' && shape !== 'bytes' && shape !== 'any') throw wrongType(place)
    return value
  }

  private scalar(shape: Shape, place: string): unknown {
    const start = this.at
    while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at] ?? '')) this.at += 1
    const word = this.text.slice(start, this.at)
    if (word === 'null') return undefined
    const type = word === 'true' || word === 'false' ? 'boolean' : 'integer'
    // Go does not take 1.0 and 1e3 for integers, and JavaScript loses precision beyond 2^53.
    const isWhole = /^-?(?:0|[1-9]\d*)$/.test(word) && Number.isSafeInteger(Number(word))
    if (shape !== 'any' && (shape !== type || (type === 'integer' && !isWhole))) throw wrongType(place)
    const value: unknown = JSON.parse(word)
    // Go rejects numbers that overflow a float. -0 equals 0 elsewhere.
    if (value === Infinity || value === -Infinity) throw wrongType(place)
    return value === 0 ? 0 : value
  }

  /** Whether the closing character is next; if not, advances to the next item. */
  private closes(end: string): boolean {
    this.skipBlanks()
    if (this.text[this.at] === ',') {
      this.at += 1
      this.skipBlanks()
    }
    if (this.text[this.at] !== end) return false
    this.at += 1
    return true
  }

  private skipBlanks(): void {
    for (let code = this.text.charCodeAt(this.at); code === 32 || (code >= 9 && code <= 13);)
      code = this.text.charCodeAt((this.at += 1))
  }
}

interface Field {
  readonly name: string
  readonly shape: Shape
}

const foldedFields = oncePer(
  (fields: Readonly<Record<string, Shape>>): ReadonlyMap<string, Field> =>
    new Map(Object.entries(fields).map(([name, shape]) => [foldedKey(name), { name, shape }])),
)

function named(key: string): string {
  return JSON.stringify(key.length > 100 ? `${key.slice(0, 100)}…` : key)
}

function wrongType(place: string): RegistryError {
  return badReply(
    place === '' ? 'its document is not an object' : `its ${named(place)} is not what it should be`,
  )
}

function badReply(message: string): RegistryError {
  return new RegistryError('bad-reply', message)
}
