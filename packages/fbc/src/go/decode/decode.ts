// Decodes values into Go types as encoding/json does. Matches names case-insensitively, lets null leave most values
// unchanged, and continues after a wrong type. opm prints the first problem.
import { decodeBase64 } from '../base64.ts'
import { formatGoFloat32, formatJsonNumber } from '../number.ts'
import { quoteLikeGo } from '../text.ts'
import { sortMapEntriesByKey } from '../json/json-text.ts'
import type { MapEntry, MapValue, NumberValue, ParsedValue } from '../tree.ts'
import {
  type GoType,
  type StructType,
  uint8Type,
  type DecodedStruct,
  type DecodedValue,
  type DecodedFieldValues,
  type UndecodedFieldValues,
  findStructFieldName,
  getJsonTypeName,
} from './go-type.ts'
import { LazyDecodedStruct, matchesGoType } from './lazy-decoded.ts'

export interface DecodeProblem {
  readonly message: string
  readonly at: ParsedValue
  /** The field's path from the root, in Go's spelling: `entries.skips`. Empty at the root itself. */
  readonly field: string
  readonly wanted: string
  readonly found: string
}

export interface DecodeResult {
  readonly decoded: DecodedStruct
  readonly problems: readonly DecodeProblem[]
  readonly moreProblems: number
}

/** Reports never show more problems than this. */
const maxDecodeProblems = 100

export interface DecodeOptions {
  /** Applies several spellings of one field in text order instead of byte order, as in original JSON. */
  readonly inTextOrder?: boolean
  readonly isStrict?: boolean
  /** Converts numbers and bools to strings if the type is a string, as when YAML is decoded directly into a type. */
  readonly coerces?: boolean
}

/** `earlier` has the fields of a struct that is reused for this value. */
export function decodeGoStruct(
  type: StructType,
  value: ParsedValue,
  rules?: DecodeOptions,
  earlier: readonly (readonly [string, DecodedValue])[] = [],
): DecodeResult {
  if (!rules && earlier.length === 0 && value.kind !== 'null' && matchesGoType(type, value))
    return { decoded: new LazyDecodedStruct(type, value), problems: [], moreProblems: 0 }
  const decoder = new GoStructDecoder(rules)
  const before = new EagerDecodedStruct(value)
  for (const [field, decoded] of earlier) before.set(field, decoded, value)
  const decoded = decoder.value(type, value, before, '', []) as DecodedStruct
  return { decoded: decoded ?? before, problems: decoder.problems, moreProblems: decoder.moreProblems }
}

class GoStructDecoder {
  readonly problems: DecodeProblem[] = []
  moreProblems = 0
  private readonly rules: DecodeOptions | undefined

  constructor(rules?: DecodeOptions) {
    this.rules = rules
  }

  /** `before` is the field's earlier value: null keeps it, and a struct extends it. */
  value(
    type: GoType,
    value: ParsedValue,
    before: DecodedValue,
    owner: string,
    path: readonly string[],
  ): DecodedValue {
    if (type.kind === 'raw') return value
    if (value.kind === 'null')
      return type.kind === 'slice' || type.kind === 'map' || type.kind === 'bytes' ? undefined : before
    switch (type.kind) {
      case 'string':
        if (value.kind === 'string') return value.value
        if (this.rules?.coerces === true && value.kind === 'bool') return String(value.value)
        if (this.rules?.coerces === true && value.kind === 'number') return formatNumberAsString(value)
        break
      case 'bool':
        if (value.kind === 'bool') return value.value
        break
      case 'int':
        if (value.kind === 'number') return this.int(type, value, before, owner, path)
        break
      case 'bytes':
        if (value.kind === 'string') return this.base64(value, before)
        if (value.kind === 'list') return this.byteList(value, before, owner, path)
        break
      case 'slice':
        if (value.kind === 'list') {
          const old = Array.isArray(before) ? before : []
          return value.items.map((item, at) => this.value(type.element, item, old[at], owner, path))
        }
        break
      case 'map':
        if (value.kind === 'map') {
          for (const { value: inner } of sortMapEntriesByKey(value.entries)) {
            this.value(type.element, inner, undefined, owner, path)
          }
          return mergeMapEntries(value, before)
        }
        break
      case 'struct':
        if (value.kind === 'map') return this.struct(type, value, before, path)
    }
    this.mismatch(type, value, getJsonTypeName(value), owner, path)
    return before
  }

  private struct(type: StructType, value: MapValue, before: DecodedValue, path: readonly string[]) {
    const old = before !== undefined && isDecodedStruct(before) ? before : undefined
    if (!old && !this.rules && matchesGoType(type, value)) return new LazyDecodedStruct(type, value)
    const result = new EagerDecodedStruct(value)
    if (old) result.copyFrom(type, old)
    const owner = getUnqualifiedTypeName(type)
    for (const { key, value: inner } of this.orderEntries(value)) {
      const field = findStructFieldName(type, key)
      if (field === undefined) {
        if (this.rules?.isStrict === true) this.rejectUnknownField(key, inner)
        continue
      }
      const fieldType = type.fields[field] as GoType
      const decoded = this.value(fieldType, inner, result.get(field), owner, [...path, field])
      result.set(field, decoded, inner)
    }
    return result
  }

  private orderEntries({ entries }: MapValue): readonly MapEntry[] {
    if (this.rules?.inTextOrder !== true) return sortMapEntriesByKey(entries)
    return [...entries].sort((a, b) => a.keyStart - b.keyStart)
  }

  private rejectUnknownField(key: string, at: ParsedValue): void {
    const message = `json: unknown field ${quoteLikeGo(key)}`
    this.addProblem(() => ({ message, at, field: key, wanted: 'no such field', found: getJsonTypeName(at) }))
  }

  private int(
    type: GoType & { kind: 'int' },
    value: ParsedValue & { kind: 'number' },
    before: DecodedValue,
    owner: string,
    path: readonly string[],
  ): DecodedValue {
    const text = formatJsonNumber(value.value)
    // Go parses the text, so a number with a fraction or an exponent is never an integer.
    if (/^-?\d+$/.test(text) && value.value >= type.min && value.value <= type.max) return value.value
    this.mismatch(type, value, `number ${text}`, owner, path)
    return before
  }

  private base64(value: ParsedValue & { kind: 'string' }, before: DecodedValue): DecodedValue {
    const decoded = decodeBase64(value.value)
    if (typeof decoded !== 'number') return decoded
    const message = `illegal base64 data at input byte ${decoded}`
    this.addProblem(() => ({
      ...{ message, at: value, field: '' },
      ...{ wanted: 'base64', found: 'text that is not base64' },
    }))
    return before
  }

  private byteList(
    value: ParsedValue & { kind: 'list' },
    before: DecodedValue,
    owner: string,
    path: readonly string[],
  ): Uint8Array {
    const old = before instanceof Uint8Array ? before : []
    const numbers = value.items.map((item, at) => this.value(uint8Type, item, old[at] ?? 0, owner, path))
    return Uint8Array.from(numbers, (number) => (typeof number === 'number' ? number : 0))
  }

  private mismatch(type: GoType, at: ParsedValue, found: string, owner: string, path: readonly string[]) {
    this.addProblem(() => {
      const field = path.join('.')
      const into =
        field === ''
          ? `Go value of type ${type.name}`
          : `Go struct field ${owner}.${field} of type ${type.name}`
      const message = `json: cannot unmarshal ${found} into ${into}`
      return { message, at, field, wanted: type.name, found }
    })
  }

  private addProblem(problem: () => DecodeProblem): void {
    if (this.problems.length < maxDecodeProblems) this.problems.push(problem())
    else this.moreProblems++
  }
}

/** `next` is the field read before this one. */
interface DecodedFieldListNode {
  readonly name: string
  value: DecodedValue
  source: ParsedValue
  readonly next: DecodedFieldListNode | undefined
}

/** Small, because a list can contain a million structs with one or two fields each. */
class EagerDecodedStruct implements DecodedStruct, DecodedFieldValues {
  readonly at: ParsedValue
  private filled: DecodedFieldListNode | undefined

  constructor(at: ParsedValue) {
    this.at = at
  }

  get fields(): DecodedFieldValues {
    return this
  }

  get sources(): UndecodedFieldValues {
    return { get: (field) => this.find(field)?.source }
  }

  get(field: string): DecodedValue {
    return this.find(field)?.value
  }

  has(field: string): boolean {
    return this.find(field) !== undefined
  }

  set(name: string, value: DecodedValue, source: ParsedValue): void {
    const known = this.find(name)
    if (known) {
      known.value = value
      known.source = source
    } else this.filled = { name, value, source, next: this.filled }
  }

  /** Starts with the fields of the struct that an earlier occurrence of the field decoded. */
  copyFrom(type: StructType, { fields, sources }: DecodedStruct): void {
    for (const field of Object.keys(type.fields)) {
      const source = sources.get(field)
      if (source) this.set(field, fields.get(field), source)
    }
  }

  private find(name: string): DecodedFieldListNode | undefined {
    let field = this.filled
    while (field && field.name !== name) field = field.next
    return field
  }
}

function mergeMapEntries(value: MapValue, before: DecodedValue): MapValue {
  if (typeof before !== 'object' || !('kind' in before) || before.kind !== 'map') return value
  const keys = new Set(value.entries.map(({ key }) => key))
  const remainingEntries = before.entries.filter(({ key }) => !keys.has(key))
  const { start, end, entries } = value
  return remainingEntries.length === 0
    ? value
    : { kind: 'map', start, end, entries: [...remainingEntries, ...entries] }
}

function getUnqualifiedTypeName({ name }: StructType): string {
  return name.startsWith('struct ') ? '' : name.slice(name.indexOf('.') + 1)
}

/** A number as the YAML converter writes it for a string type. Floats have 32 bits. */
function formatNumberAsString({ value, text, isFloat }: NumberValue): string {
  return isFloat !== true && /^-?\d+$/.test(text) ? text : formatGoFloat32(value)
}

function isDecodedStruct(value: DecodedValue): value is DecodedStruct {
  return typeof value === 'object' && 'fields' in value
}

/** Returns an empty string if the field is absent, null or of the wrong type. */
export function getDecodedStringField(decoded: DecodedStruct, field: string): string {
  const value = decoded.fields.get(field)
  return typeof value === 'string' ? value : ''
}

export function getDecodedStringFields<Name extends string>(
  decoded: DecodedStruct,
  ...fields: readonly Name[]
): Readonly<Record<Name, string>> {
  const strings = fields.map((field) => [field, getDecodedStringField(decoded, field)])
  return Object.fromEntries(strings) as Record<Name, string>
}

/** Returns undefined if the field is absent, null or of the wrong type. */
export function getDecodedStructField(decoded: DecodedStruct, field: string): DecodedStruct | undefined {
  const value = decoded.fields.get(field)
  return isDecodedStruct(value) ? value : undefined
}

/** Returns the structs of a list field. A null item becomes an empty struct. */
export function getDecodedStructList(decoded: DecodedStruct, field: string): DecodedStruct[] {
  const list = decoded.fields.get(field)
  if (!Array.isArray(list)) return []
  return list.map((item, index) => {
    if (item !== undefined && isDecodedStruct(item)) return item
    const at = decoded.sources.get(field) ?? decoded.at
    const source = at.kind === 'list' ? (at.items[index] ?? at) : at
    return new EagerDecodedStruct(source)
  })
}

/** Returns the strings of a list field. A null item becomes an empty string. */
export function getDecodedStringList(decoded: DecodedStruct, field: string): string[] {
  const list = decoded.fields.get(field)
  return Array.isArray(list) ? list.map((item) => (typeof item === 'string' ? item : '')) : []
}
