// Flattens a CRD's schema into a table of properties, as crdify does.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getJsonFieldAtPath, asListOrEmpty, asObjectOrEmpty, type JsonObject } from '../fields.ts'
import type { FieldPath } from '../bundle-locator.ts'

export interface FlatSchemaProperty {
  readonly schema: JsonObject
  readonly path: FieldPath
}

/** Keys are for example `^.spec.size`. */
export type FlatSchema = ReadonlyMap<string, FlatSchemaProperty>

/** Deeper than any schema. Documents are untrusted. */
const maxSchemaDepth = 100

export function flattenSchema(root: Json | undefined): FlatSchema {
  const flat = new Map<string, FlatSchemaProperty>()
  const visit = (value: Json | undefined, location: string, path: FieldPath): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || path.length > maxSchemaDepth)
      return
    const { properties, items, ...schema } = asObjectOrEmpty(value)
    flat.set(location, { schema, path })
    const visitChild = (name: string, inner: Json | undefined, key = name) =>
      visit(inner, `${location}.${key}`, [...path, name])
    if (Array.isArray(items))
      for (const [index, item] of asListOrEmpty(items).entries())
        visit(item, `${location}.items[${index}]`, [...path, 'items', index])
    else visitChild('items', items)
    for (const list of ['allOf', 'anyOf', 'oneOf'])
      for (const [index, item] of asListOrEmpty(schema[list]).entries())
        visit(item, `${location}.${list}[${index}]`, [...path, list, index])
    visitChild('not', schema['not'])
    for (const [name, inner] of Object.entries(asObjectOrEmpty(properties)))
      visit(inner, `${location}.${name}`, [...path, 'properties', name])
    visitChild('additionalProperties', schema['additionalProperties'])
    visitChild('additionalItems', schema['additionalItems'])
    for (const table of ['patternProperties', 'definitions', 'dependencies'])
      for (const [name, inner] of Object.entries(asObjectOrEmpty(schema[table])))
        visit(inner, `${location}.${table}[${name}]`, [...path, table, name])
  }
  visit(root, '^', [])
  return flat
}

export function getCrdVersionSchema(version: Json | undefined): Json | undefined {
  return getJsonFieldAtPath(version, 'schema', 'openAPIV3Schema')
}
