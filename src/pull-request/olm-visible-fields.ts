// The parts of a bundle's fields that OLM reads. Unknown keys don't affect what OLM resolves, installs or shows.
import {
  blobShapes,
  propertyValueShapes,
  getFieldShape,
  type KnownFieldShape as FieldShape,
} from '@catalog-bot/fbc/load/known-fields'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { isJsonObject } from '@catalog-bot/fbc/go/json/json-fields'
import type { BlobFields } from '@catalog-bot/fbc/load/blob-fields'
import { toCanonicalJson } from './compare-blobs.ts'

type BlobFieldValue = BlobFields extends ReadonlyMap<string, infer Held> ? Held | undefined : never

const fieldShapeByPropertyType: Readonly<Record<string, FieldShape>> = {
  ...propertyValueShapes,
  'olm.label': { label: {} },
  'olm.label.required': { label: {} },
}

/** Returns the differing fields in which a part that OLM reads differs. */
export function filterOlmVisibleFields(
  differing: readonly string[],
  base: BlobFields,
  result: BlobFields,
): string[] {
  return differing.filter(
    (field) => toOlmVisibleText(field, base.get(field)) !== toOlmVisibleText(field, result.get(field)),
  )
}

/** Returns the text of a field as OLM reads it, for comparison. Ignores the order of lists. */
function toOlmVisibleText(field: string, value: BlobFieldValue): string {
  const bundle = blobShapes['olm.bundle']
  const shape = typeof bundle === 'object' ? getFieldShape(bundle, field) : 'any'
  if (shape === undefined || value === undefined) return ''
  if (typeof value === 'string') return value
  const items = value.map((item) => JSON.parse(item) as Json)
  const isOfProperties = getFieldShape({ properties: {} }, field) !== undefined
  return items
    .map((item) =>
      toCanonicalJson(isOfProperties ? toOlmVisibleProperty(item) : toOlmVisibleValue(item, shape)),
    )
    .sort()
    .join('\n')
}

function toOlmVisibleProperty(property: Json): Json {
  if (!isJsonObject(property)) return property
  const { type } = property
  const named = Object.keys(property).filter((name) => getFieldShape({ type: {}, value: {} }, name))
  // Go ignores the case of keys, so the order matters for keys that differ only in case.
  const isPlain = named.every((name) => name === 'type' || name === 'value')
  if (!isPlain || typeof type !== 'string') return property
  const shape = Object.hasOwn(fieldShapeByPropertyType, type) ? fieldShapeByPropertyType[type] : undefined
  return {
    type,
    ...('value' in property && { value: toOlmVisibleValue(property['value'] ?? null, shape ?? 'any') }),
  }
}

function toOlmVisibleValue(value: Json, shape: FieldShape): Json {
  if (typeof shape === 'string' || !isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, held]): [string, Json][] => {
      const below = getFieldShape(shape, name)
      return below === undefined ? [] : [[name, held]]
    }),
  )
}
