import {
  fieldShapesByBlobSchema,
  valueShapesByPropertyType,
  getFieldShape,
  type KnownFieldShape,
} from '@catalog-bot/fbc/load/find-leniencies'

/**
 * Known fields of the mapping at `path` (`entries[3].replace`). Below a property's `value`: those of its `type`, or of
 * all closed types if the type is unknown.
 */
export function findKnownFieldNames(schema: string, path: string, type?: string): string[] {
  const steps = path
    .replaceAll(/\[\d+\]/g, '')
    .split('.')
    .slice(0, -1)
  let shape: KnownFieldShape | undefined = Object.hasOwn(fieldShapesByBlobSchema, schema)
    ? fieldShapesByBlobSchema[schema]
    : undefined
  for (const step of steps) {
    if (typeof shape !== 'object') break
    shape = getFieldShape(shape, step)
  }
  if (typeof shape === 'object') return Object.keys(shape)
  if (shape !== 'any') return []
  const own =
    type !== undefined && Object.hasOwn(valueShapesByPropertyType, type)
      ? valueShapesByPropertyType[type]
      : undefined
  if (typeof own === 'object') return Object.keys(own)
  return [
    ...new Set(
      Object.values(valueShapesByPropertyType).flatMap((its) =>
        typeof its === 'object' ? Object.keys(its) : [],
      ),
    ),
  ]
}
