// The parts of a bundle's fields that OLM reads. Unknown keys don't affect what OLM resolves, installs or shows.
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

const valueShapes: Readonly<Record<string, FieldShape>> = {
  ...propertyShapes,
  'olm.label': { label: {} },
  'olm.label.required': { label: {} },
}

/** The differing fields in which a part that OLM reads differs. */
export function readFields(differing: readonly string[], base: BlobFields, result: BlobFields): string[] {
  return differing.filter((field) => readText(field, base.get(field)) !== readText(field, result.get(field)))
}

/** A field's text as OLM reads it, for comparison. Ignores the order of lists. */
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
  // Go ignores the case of keys, so among keys that differ only in case the order decides.
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
