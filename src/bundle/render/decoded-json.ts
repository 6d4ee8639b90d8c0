// A value as plain JSON, after Go has decoded it: only known fields, under their own names, zero values for null.
import type { Json } from '../../go/json/json.ts'
import { decode } from '../../go/decode/decode.ts'
import type { Decoded, DecodedValue } from '../../go/decode/decoded.ts'
import type { GoType, StructType } from '../../go/decode/go-type.ts'
import { plainJson } from '../../go/json/plain-json.ts'
import type { Value } from '../../go/tree.ts'
import type { JsonObject } from '../fields.ts'

export interface DecodedJson {
  readonly json: JsonObject
  /** encoding/json's first complaint; what it concerns is missing from `json`. */
  readonly problem?: string
}

/** Fields that are absent in `value` are absent here too. Never throws. */
export function decodedJson(type: StructType, value: Value): DecodedJson {
  const { decoded, problems } = decode(type, value)
  const [first] = problems
  return { json: structJson(type, decoded), ...(first && { problem: first.message }) }
}

function structJson(type: StructType, { fields, sources }: Decoded): JsonObject {
  return Object.fromEntries(
    Object.entries(type.fields).flatMap(([name, fieldType]) => {
      if (!fields.has(name)) return []
      const json = toJson(fieldType, fields.get(name), sources.get(name))
      return json === undefined ? [] : [[name, json]]
    }),
  )
}

function toJson(type: GoType, value: DecodedValue, source: Value | undefined): Json | undefined {
  switch (type.kind) {
    case 'raw':
      return source && plainJson(source)
    case 'map':
      return mapJson(source)
    case 'struct':
      return typeof value === 'object' && 'fields' in value ? structJson(type, value) : undefined
    case 'slice':
      return Array.isArray(value)
        ? value.map((item, index) => itemJson(type.element, item, source, index))
        : undefined
    case 'string':
    case 'bool':
    case 'int':
    case 'bytes':
      return typeof value === 'object' ? undefined : value
  }
}

function itemJson(type: GoType, item: DecodedValue, source: Value | undefined, index: number): Json {
  const own = source?.kind === 'list' ? source.items[index] : undefined
  const json = toJson(type, item, own)
  if (json !== undefined) return json
  return type.kind === 'struct' ? {} : type.kind === 'string' ? '' : null
}

/** Only maps of texts occur: null is the empty text, what is no text was complained about. */
function mapJson(source: Value | undefined): Json | undefined {
  if (source?.kind !== 'map') return undefined
  return Object.fromEntries(
    source.entries.flatMap(({ key, value }) =>
      value.kind === 'string' ? [[key, value.value]] : value.kind === 'null' ? [[key, '']] : [],
    ),
  )
}
