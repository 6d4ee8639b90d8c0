// Converts a value to the JSON that remains after Go decodes it: only known fields, with their canonical names, and
// zero values for null.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { decodeGoStruct } from '@catalog-bot/fbc/go/decode/decode'
import type { DecodedStruct, DecodedValue } from '@catalog-bot/fbc/go/decode/decoded'
import type { GoType, StructType } from '@catalog-bot/fbc/go/decode/go-type'
import { toPlainJson } from '@catalog-bot/fbc/go/json/plain-json'
import type { Value } from '@catalog-bot/fbc/go/tree'
import type { JsonObject } from '../fields.ts'

export interface DecodedJsonResult {
  readonly json: JsonObject
  /** encoding/json's first error. The value that it concerns is missing from `json`. */
  readonly problem?: string
}

/** Fields that are absent in `value` are also absent in the result. Never throws. */
export function decodeToJson(type: StructType, value: Value): DecodedJsonResult {
  const { decoded, problems } = decodeGoStruct(type, value)
  const [first] = problems
  return { json: decodedStructToJson(type, decoded), ...(first && { problem: first.message }) }
}

function decodedStructToJson(type: StructType, { fields, sources }: DecodedStruct): JsonObject {
  return Object.fromEntries(
    Object.entries(type.fields).flatMap(([name, fieldType]) => {
      if (!fields.has(name)) return []
      const json = decodedValueToJson(fieldType, fields.get(name), sources.get(name))
      return json === undefined ? [] : [[name, json]]
    }),
  )
}

function decodedValueToJson(type: GoType, value: DecodedValue, source: Value | undefined): Json | undefined {
  switch (type.kind) {
    case 'raw':
      return source && toPlainJson(source)
    case 'map':
      return mapToJson(source)
    case 'struct':
      return typeof value === 'object' && 'fields' in value ? decodedStructToJson(type, value) : undefined
    case 'slice':
      return Array.isArray(value)
        ? value.map((item, index) => listItemToJson(type.element, item, source, index))
        : undefined
    case 'string':
    case 'bool':
    case 'int':
    case 'bytes':
      return typeof value === 'object' ? undefined : value
  }
}

function listItemToJson(type: GoType, item: DecodedValue, source: Value | undefined, index: number): Json {
  const own = source?.kind === 'list' ? source.items[index] : undefined
  const json = decodedValueToJson(type, item, own)
  if (json !== undefined) return json
  return type.kind === 'struct' ? {} : type.kind === 'string' ? '' : null
}

/** Supports only maps of strings. Null becomes an empty string; other types were already reported. */
function mapToJson(source: Value | undefined): Json | undefined {
  if (source?.kind !== 'map') return undefined
  return Object.fromEntries(
    source.entries.flatMap(({ key, value }) =>
      value.kind === 'string' ? [[key, value.value]] : value.kind === 'null' ? [[key, '']] : [],
    ),
  )
}
