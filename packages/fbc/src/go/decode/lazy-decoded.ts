// Values that already fit their Go type, so they need no decoding. Almost all values in a catalog do.
import { decodeBase64, decodeSingleLineBase64 } from '../base64.ts'
import { type ListValue, type MapEntry, type MapValue, type ParsedValue, getMapValue } from '../tree.ts'
import {
  type GoType,
  type StructType,
  type DecodedStruct,
  type DecodedValue,
  type DecodedFieldValues,
  type UndecodedFieldValues,
  findStructFieldName,
} from './go-type.ts'

/** Returns whether no field of the struct, at any depth, has two spellings. */
export function hasUniqueFieldNamesIgnoringCase(decoded: DecodedStruct): boolean {
  return decoded instanceof LazyDecodedStruct
}

/** Whether decoding the value would cause no problems and involve no choice between spellings. */
export function matchesGoType(type: GoType, value: ParsedValue): boolean {
  if (type.kind === 'raw' || value.kind === 'null') return true
  switch (type.kind) {
    case 'string':
    case 'bool':
      return value.kind === type.kind
    case 'int':
      return (
        value.kind === 'number' &&
        Number.isSafeInteger(value.value) &&
        !Object.is(value.value, -0) &&
        value.value >= type.min &&
        value.value <= type.max
      )
    case 'bytes':
      return value.kind === 'string' && isValidGoBase64(value.value)
    case 'slice':
      return value.kind === 'list' && matchesOnce(type, value)
    case 'map':
    case 'struct':
      return value.kind === 'map' && matchesOnce(type, value)
  }
}

/** Equal blocks of text are compared once. */
function matchesOnce(type: GoType, value: ListValue | MapValue): boolean {
  const { memo } = value
  if (memo?.matchedType === type) return true
  const isMatch = value.kind === 'list' ? matchesItems(type, value) : matchesEntries(type, value)
  if (isMatch && memo) memo.matchedType = type
  return isMatch
}

function matchesItems(type: GoType, { items }: ListValue): boolean {
  return type.kind === 'slice' && items.every((item) => matchesGoType(type.element, item))
}

/** Without an iterator or a closure, because a catalog has ten thousands of maps. */
function matchesEntries(type: GoType, { entries }: MapValue): boolean {
  let at = 0
  while (at < entries.length && matchesEntry(type, entries[at] as MapEntry)) at++
  return at === entries.length
}

function matchesEntry(type: GoType, { key, value }: MapEntry): boolean {
  if (type.kind === 'map') return matchesGoType(type.element, value)
  if (type.kind !== 'struct') return false
  const field = findStructFieldName(type, key)
  return field === key ? matchesGoType(type.fields[key] as GoType, value) : field === undefined
}

function isValidGoBase64(text: string): boolean {
  return decodeSingleLineBase64(text) !== undefined || typeof decodeBase64(text) !== 'number'
}

/** Looks up fields lazily. */
export class LazyDecodedStruct implements DecodedStruct, DecodedFieldValues {
  readonly at: ParsedValue
  private readonly type: StructType

  constructor(type: StructType, at: ParsedValue) {
    this.type = type
    this.at = at
  }

  get fields(): DecodedFieldValues {
    return this
  }

  get sources(): UndecodedFieldValues {
    return { get: (field) => getMapValue(this.at, field) }
  }

  get(field: string): DecodedValue {
    const found = getMapValue(this.at, field)
    return found && toDecodedValue(this.type.fields[field] as GoType, found)
  }

  has(field: string): boolean {
    return getMapValue(this.at, field) !== undefined
  }
}

function toDecodedValue(type: GoType, value: ParsedValue): DecodedValue {
  if (type.kind === 'raw' || type.kind === 'map') return value
  switch (value.kind) {
    case 'null':
      return undefined
    case 'string': {
      if (type.kind !== 'bytes') return value.value
      const bytes = decodeBase64(value.value)
      return typeof bytes === 'number' ? undefined : bytes
    }
    case 'bool':
    case 'number':
      return value.value
    case 'list': {
      if (type.kind !== 'slice') return value
      const { element } = type
      return value.items.map((item) => toDecodedValue(element, item))
    }
    case 'map':
      return type.kind === 'struct' ? new LazyDecodedStruct(type, value) : value
  }
}
