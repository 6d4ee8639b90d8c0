// Values that already fit their Go type, so they need no decoding. Almost all values in a catalog do.
import { decodeBase64, decodeSingleLineBase64 } from '../base64.ts'
import { type ListValue, type MapEntry, type MapValue, type ParsedValue, getMapValue } from '../tree.ts'
import type {
  GoType,
  StructType,
  DecodedStruct,
  DecodedValue,
  DecodedFieldValues,
  UndecodedFieldValues,
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
      return (
        value.kind === 'list' &&
        matchesOnce(type, value, () => value.items.every((item) => matchesGoType(type.element, item)))
      )
    case 'map':
      return (
        value.kind === 'map' &&
        matchesOnce(type, value, () =>
          value.entries.every((entry) => matchesGoType(type.element, entry.value)),
        )
      )
    case 'struct':
      return (
        value.kind === 'map' &&
        matchesOnce(type, value, () => value.entries.every((entry) => matchesField(type, entry)))
      )
  }
}

/** Equal blocks of text are compared once. */
function matchesOnce(type: GoType, { memo }: ListValue | MapValue, matches: () => boolean): boolean {
  if (memo?.matchedType === type) return true
  const isMatch = matches()
  if (isMatch && memo) memo.matchedType = type
  return isMatch
}

function matchesField(type: StructType, { key, value }: MapEntry): boolean {
  return Object.hasOwn(type.fields, key)
    ? matchesGoType(type.fields[key] as GoType, value)
    : !hasFieldIgnoringCase(type, key)
}

function isValidGoBase64(text: string): boolean {
  return decodeSingleLineBase64(text) !== undefined || typeof decodeBase64(text) !== 'number'
}

function hasFieldIgnoringCase(type: StructType, key: string): boolean {
  for (const name of Object.keys(type.fields)) {
    if (name.length === key.length && name.toLowerCase() === key.toLowerCase().replaceAll('ſ', 's'))
      return true
  }
  return false
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
    case 'list':
      return type.kind === 'slice' ? value.items.map((item) => toDecodedValue(type.element, item)) : value
    case 'map':
      return type.kind === 'struct' ? new LazyDecodedStruct(type, value) : value
  }
}
