// Flattens a CRD's schema to a table of properties, as crdify does.
import type { Json } from '../../go/json/json.ts'
import { at, listOf, objectOf, type JsonObject } from '../fields.ts'
import type { Path } from '../bundle-places.ts'

export interface FlatProperty {
  readonly schema: JsonObject
  readonly path: Path
}

/** Keys are for example `^.spec.size`. */
export type FlatSchema = ReadonlyMap<string, FlatProperty>

/** Deeper than any schema; documents are untrusted. */
const maxDepth = 100

export function flattened(root: Json | undefined): FlatSchema {
  const flat = new Map<string, FlatProperty>()
  const visit = (value: Json | undefined, location: string, path: Path): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || path.length > maxDepth) return
    const { properties, items, ...schema } = objectOf(value)
    flat.set(location, { schema, path })
    const child = (name: string, inner: Json | undefined, key = name) =>
      visit(inner, `${location}.${key}`, [...path, name])
    if (Array.isArray(items))
      for (const [index, item] of listOf(items).entries())
        visit(item, `${location}.items[${index}]`, [...path, 'items', index])
    else child('items', items)
    for (const list of ['allOf', 'anyOf', 'oneOf'])
      for (const [index, item] of listOf(schema[list]).entries())
        visit(item, `${location}.${list}[${index}]`, [...path, list, index])
    child('not', schema['not'])
    for (const [name, inner] of Object.entries(objectOf(properties)))
      visit(inner, `${location}.${name}`, [...path, 'properties', name])
    child('additionalProperties', schema['additionalProperties'])
    child('additionalItems', schema['additionalItems'])
    for (const table of ['patternProperties', 'definitions', 'dependencies'])
      for (const [name, inner] of Object.entries(objectOf(schema[table])))
        visit(inner, `${location}.${table}[${name}]`, [...path, table, name])
  }
  visit(root, '^', [])
  return flat
}

export function schemaOf(version: Json | undefined): Json | undefined {
  return at(version, 'schema', 'openAPIV3Schema')
}
