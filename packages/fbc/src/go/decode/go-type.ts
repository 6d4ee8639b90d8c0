// Go types, the values decoded into them, and how Go formats values.
import type { ParsedValue, ListValue, MapValue } from '../tree.ts'
import { formatGoFloat } from '../number.ts'
import { sortMapEntriesByKey } from '../json/json-text.ts'
import { formatTruncatedParsedValue, type ParsedValueFormatter } from '../text.ts'

const maxFormattedGoValueLength = 1 << 20

const jsonTypeNameByValueKind = {
  null: 'null',
  bool: 'bool',
  number: 'number',
  string: 'string',
  list: 'array',
  map: 'object',
}

export interface DecodedFieldValues {
  get(field: string): DecodedValue
  has(field: string): boolean
}

export interface UndecodedFieldValues {
  get(field: string): ParsedValue | undefined
}

export interface DecodedStruct {
  readonly fields: DecodedFieldValues
  readonly sources: UndecodedFieldValues
  readonly at: ParsedValue
}

export type DecodedValue =
  string | boolean | number | Uint8Array | ParsedValue | DecodedStruct | DecodedList | undefined

type DecodedList = DecodedValue[]

// The Go types that opm decodes a catalog into, limited to what affects results and errors.

export type GoType =
  | { readonly kind: 'string' | 'bool' | 'bytes' | 'raw'; readonly name: string }
  | { readonly kind: 'int'; readonly name: string; readonly min: number; readonly max: number }
  | { readonly kind: 'slice'; readonly name: string; readonly element: GoType }
  | { readonly kind: 'map'; readonly name: string; readonly element: GoType }
  | StructType

export interface StructType {
  readonly kind: 'struct'
  /** Includes the package, as in error messages: `declcfg.ChannelEntry`. */
  readonly name: string
  readonly fields: Readonly<Record<string, GoType>>
}

export function findStructFieldName(type: StructType, key: string): string | undefined {
  if (Object.hasOwn(type.fields, key)) return key
  // Go folds the long s and the Kelvin sign to the letters s and k, too.
  const folded = key.toLowerCase().replaceAll('ſ', 's')
  for (const name of Object.keys(type.fields)) if (name.toLowerCase() === folded) return name
  return undefined
}

export const stringType: GoType = { kind: 'string', name: 'string' }
export const boolType: GoType = { kind: 'bool', name: 'bool' }
export const bytesType: GoType = { kind: 'bytes', name: '[]uint8' }
export const rawMessageType: GoType = { kind: 'raw', name: 'json.RawMessage' }
export const uint8Type: GoType = { kind: 'int', name: 'uint8', min: 0, max: 255 }
export const int32Type: GoType = { kind: 'int', name: 'int32', min: -(2 ** 31), max: 2 ** 31 - 1 }

export const objectMetaStructType = createStructType('v1.ObjectMeta', {
  name: stringType,
  generateName: stringType,
  namespace: stringType,
  annotations: createMapType(stringType),
  labels: createMapType(stringType),
})

/** The part of an object that opm reads before it reads a CSV's spec. */
export const kubernetesObjectStructType = createStructType('v1.TypeMeta', {
  apiVersion: stringType,
  kind: stringType,
  metadata: objectMetaStructType,
})

export function createNamedStringType(name: string): GoType {
  return { kind: 'string', name }
}

export function createSliceType(element: GoType): GoType {
  return { kind: 'slice', name: `[]${element.name}`, element }
}

export function createMapType(element: GoType): GoType {
  return { kind: 'map', name: `map[string]${element.name}`, element }
}

export function createStructType(name: string, fields: Readonly<Record<string, GoType>>): StructType {
  return { kind: 'struct', name, fields }
}

// Formats decoded JSON as Go's fmt does with %v, and with the %t that opm uses by mistake.
export function getJsonTypeName(value: ParsedValue): string {
  return jsonTypeNameByValueKind[value.kind]
}

/** `%v`: lists and maps as `[1 x]` and `map[a:1]`. */
export function formatGoValue(value: ParsedValue): string {
  return formatTruncatedParsedValue(
    value,
    { partsOf: (part) => tokenizeGoValueForFormatting(part, false), scalar: formatGoScalar },
    maxFormattedGoValueLength,
  )
}

/** `%t` of a value that is not a bool: `%!t(float64=1)`. */
export function formatAsGoBool(value: ParsedValue): string {
  if (value.kind === 'null') return '%!t(<nil>)'
  const scalar: ParsedValueFormatter['scalar'] = (part) => {
    if (part.kind === 'bool') return String(part.value)
    if (part.kind === 'null') return '<nil>'
    return `%!t(${part.kind === 'number' ? 'float64' : 'string'}=${formatGoScalar(part)})`
  }
  return formatTruncatedParsedValue(
    value,
    { partsOf: (part) => tokenizeGoValueForFormatting(part, true), scalar },
    maxFormattedGoValueLength,
  )
}

function formatGoScalar(value: Parameters<ParsedValueFormatter['scalar']>[0]): string {
  switch (value.kind) {
    case 'null':
      return '<nil>'
    case 'bool':
      return String(value.value)
    case 'number':
      return formatGoFloat(value.value)
    case 'string':
      return value.value
  }
}

function* tokenizeGoValueForFormatting(
  value: ListValue | MapValue,
  markKeys: boolean,
): Generator<ParsedValue | string> {
  let between = ''
  if (value.kind === 'list') {
    yield '['
    for (const item of value.items) {
      yield between
      yield item
      between = ' '
    }
  } else {
    yield 'map['
    for (const { key, value: inner } of sortMapEntriesByKey(value.entries)) {
      yield `${between}${markKeys ? `%!t(string=${key})` : key}:`
      yield inner
      between = ' '
    }
  }
  yield ']'
}
