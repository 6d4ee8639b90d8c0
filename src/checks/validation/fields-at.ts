// The fields that the format has beside a given one.
import { blobShapes, propertyShapes, shapeOf } from '../../catalog/load/known-fields.ts'
import type { Shape } from '../../catalog/load/known-fields.ts'

/**
 * Names of the known fields of the mapping in which `path` (`entries[3].replace`) stands. Below a property's `value`
 * those of its `type`, or of every closed type where it is not known.
 */
export function knownFieldsAt(schema: string, path: string, type?: string): string[] {
  const steps = path
    .replaceAll(/\[\d+\]/g, '')
    .split('.')
    .slice(0, -1)
  let shape: Shape | undefined = Object.hasOwn(blobShapes, schema) ? blobShapes[schema] : undefined
  for (const step of steps) {
    if (typeof shape !== 'object') break
    shape = shapeOf(shape, step)
  }
  if (typeof shape === 'object') return Object.keys(shape)
  if (shape !== 'any') return []
  const own = type !== undefined && Object.hasOwn(propertyShapes, type) ? propertyShapes[type] : undefined
  if (typeof own === 'object') return Object.keys(own)
  return [
    ...new Set(
      Object.values(propertyShapes).flatMap((its) => (typeof its === 'object' ? Object.keys(its) : [])),
    ),
  ]
}
