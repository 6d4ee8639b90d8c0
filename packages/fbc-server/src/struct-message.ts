// Converts JSON to the protobuf Struct that custom blobs are served as.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { ProtoMessage } from './grpc-services.ts'

export function toStructMessage(object: Readonly<Record<string, Json>>): ProtoMessage {
  return {
    fields: Object.fromEntries(Object.entries(object).map(([key, value]) => [key, toValueMessage(value)])),
  }
}

function toValueMessage(value: Json): ProtoMessage {
  if (value === null) return { null_value: 0 }
  if (typeof value === 'number') return { number_value: value }
  if (typeof value === 'string') return { string_value: value }
  if (typeof value === 'boolean') return { bool_value: value }
  if (Array.isArray(value)) return { list_value: { values: value.map((item: Json) => toValueMessage(item)) } }
  return { struct_value: toStructMessage(value as Readonly<Record<string, Json>>) }
}
