// What OLM reads of a bundle's fields. Its readers decode known fields and pass over all others in silence: a description
// that somebody wrote beside them changes nothing of what is resolved, installed or shown.
import {
  blobShapes,
  propertyShapes,
  shapeOf,
  type Shape as FieldShape,
} from '../catalog/load/known-fields.ts'
import type { Json } from '../go/json/json.ts'
import { isObject } from '../go/json/json-fields.ts'
import type { BlobFields } from '../catalog/load/blob-fields.ts'
import { canonical } from './blob-text.ts'

type Value = BlobFields extends ReadonlyMap<string, infer Held> ? Held | undefined : never

/** Property types that OLM's resolver decodes, besides those that opm does. */
const valueShapes: Readonly<Record<string, FieldShape>> = {
  ...propertyShapes,
  'olm.label': { label: {} },
  'olm.label.required': { label: {} },
}

/** Of the fields of a bundle that differ, those of which OLM reads something that differs. */
export function readFields(differing: readonly string[], base: BlobFields, result: BlobFields): string[] {
  return differing.filter((field) => readText(field, base.get(field)) !== readText(field, result.get(field)))
}

/** A field as OLM reads it, as text: equal texts are read alike. In which order lists stand says nothing. */
function readText(field: string, value: Value): string {
  const bundle = blobShapes['olm.bundle']
  const shape = typeof bundle === 'object' ? shapeOf(bundle, field) : 'any'
  if (shape === undefined || value === undefined) return ''
  if (typeof value === 'string') return value
  const items = value.map((item) => JSON.parse(item) as Json)
  const isOfProperties = shapeOf({ properties: {} }, field) !== undefined
  return items
    .map((item) => canonical(isOfProperties ? readProperty(item) : readOf(item, shape)))
    .sort()
    .join('\n')
}

function readProperty(property: Json): Json {
  if (!isObject(property)) return property
  const { type } = property
  const named = Object.keys(property).filter((name) => shapeOf({ type: {}, value: {} }, name))
  // Keys that only differ by their case are one to Go, and which of them counts depends on their order.
  const isPlain = named.every((name) => name === 'type' || name === 'value')
  if (!isPlain || typeof type !== 'string') return property
  const shape = Object.hasOwn(valueShapes, type) ? valueShapes[type] : undefined
  return { type, ...('value' in property && { value: readOf(property['value'] ?? null, shape ?? 'any') }) }
}

function readOf(value: Json, shape: FieldShape): Json {
  if (typeof shape === 'string' || !isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, held]): [string, Json][] => {
      const below = shapeOf(shape, name)
      return below === undefined ? [] : [[name, held]]
    }),
  )
}
