// crdify's comparisons of a schema property as OLM v1 configures them: only descriptions and more enum values pass.
import { formatGoFloat } from '@catalog-bot/fbc/go/number'
import { type Json, toSortedJson } from '@catalog-bot/fbc/go/json/json'
import { escapeHtmlInJson } from '@catalog-bot/fbc/go/json/json-text'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import {
  asListOrEmpty,
  asObjectOrEmpty,
  asStringOrEmpty,
  type JsonObject,
  getJsonFieldAtPath,
} from '../fields.ts'
import type { FieldPath } from '../manifest-document.ts'

interface FlatSchemaProperty {
  readonly schema: JsonObject
  readonly path: FieldPath
}

/** Keys are for example `^.spec.size`. */
export type FlatSchema = ReadonlyMap<string, FlatSchemaProperty>

/** Deeper than any schema. Documents are untrusted. */
const maxSchemaDepth = 100

export interface SchemaPropertyProblem {
  /** crdify's name for the comparison. */
  readonly name: string
  readonly message: string
  /** Distinguishes problems with the same message. */
  readonly detail?: string
}

type SchemaPropertyComparator = (before: JsonObject, after: JsonObject) => string | undefined

const comparatorBySchemaProperty: Readonly<Record<string, SchemaPropertyComparator>> = {
  default: ({ default: before }, { default: after }) => {
    if (before === undefined && after !== undefined)
      return `default added when there was none previously : ${quoteLikeGo(formatHtmlEscapedJson(after))}`
    if (before !== undefined && after === undefined)
      return `default value removed : ${quoteLikeGo(formatHtmlEscapedJson(before))}`
    if (before === undefined || after === undefined) return undefined
    const [old, now] = [formatHtmlEscapedJson(before), formatHtmlEscapedJson(after)]
    return old === now ? undefined : `default value changed : ${quoteLikeGo(old)} -> ${quoteLikeGo(now)}`
  },
  enum: (before, after) => {
    const [old, now] = [getEnumValues(before), getEnumValues(after)]
    if (old.length === 0 && now.length > 0)
      return `enum constraint added when there was none previously : [${now.join(' ')}]`
    const removed = old.filter((value) => !now.includes(value))
    return removed.length > 0 ? `allowed enum values removed : [${removed.join(' ')}]` : undefined
  },
  ...createMinMaxComparators('max', ['maximum', 'maxItems', 'maxLength', 'maxProperties']),
  ...createMinMaxComparators('min', ['minimum', 'minItems', 'minLength', 'minProperties']),
  required: (before, after) => {
    const old = asListOrEmpty(before['required'])
    const added = asListOrEmpty(after['required']).filter((name) => !old.includes(name))
    return added.length > 0
      ? `new required fields: [${[...new Set(added.map(asStringOrEmpty))].sort().join(' ')}]`
      : undefined
  },
  type: (before, after) => formatStringPropertyChange('type changed', before['type'], after['type']),
  pattern: ({ pattern: before }, { pattern: after }) => {
    const [old, now] = [asStringOrEmpty(before), asStringOrEmpty(after)]
    const label = old === '' ? 'pattern added' : now === '' ? 'pattern removed' : 'pattern changed'
    return formatStringPropertyChange(label, old, now)
  },
  nullable: (before, after) => {
    const [old, now] = [before['nullable'] === true, after['nullable'] === true]
    return old === now ? undefined : `nullable ${now ? 'added' : 'removed'} : ${old} -> ${now}`
  },
  oneOf: (before, after) => {
    const [old, now] = [getOneOfAlternatives(before), getOneOfAlternatives(after)]
    if (old.length === 0 && now.length > 0) return `oneOf constraint added when there was none previously`
    if (old.some((one) => !now.includes(one))) return 'allowed oneOf schemas removed'
    return now.some((one) => !old.includes(one)) ? 'allowed oneOf schemas added' : undefined
  },
}

const schemaPropertiesWithComparator = new Set([...Object.keys(comparatorBySchemaProperty), 'description'])

/** Unknown changes count as breaking. */
export function compareSchemaProperties(
  before: JsonObject,
  after: JsonObject,
): readonly SchemaPropertyProblem[] {
  const problems = Object.entries(comparatorBySchemaProperty).flatMap(
    ([name, compare]): SchemaPropertyProblem[] => {
      const message = compare(before, after)
      if (message === undefined) return []
      const detail =
        name === 'oneOf' ? [getOneOfAlternatives(before), getOneOfAlternatives(after)] : undefined
      return [{ name, message, ...(detail && { detail: toSortedJson(detail) }) }]
    },
  )
  const [old, now] = [getUnhandledSchemaProperties(before), getUnhandledSchemaProperties(after)]
  const changed = [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((field) => toSortedJson(old[field] ?? null) !== toSortedJson(now[field] ?? null))
    .sort()
  if (changed.length > 0)
    problems.push({
      name: 'unhandled',
      message: `unhandled changes found (${changed.join(', ')})`,
      detail: toSortedJson([old, now]),
    })
  return problems
}

function getUnhandledSchemaProperties(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).filter(
      ([field, value]) => !schemaPropertiesWithComparator.has(field) && !isEmptySchemaValue(field, value),
    ),
  )
}

/** Flags for which absent means false. For others, Go distinguishes absent from false. */
const schemaFlagsDefaultingToFalse = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'uniqueItems',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
])

function isEmptySchemaValue(field: string, value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === null || value === '' || (value === false && schemaFlagsDefaultingToFalse.has(field))
}

function createMinMaxComparators(kind: 'max' | 'min', fields: readonly string[]) {
  const createComparator =
    (field: string): SchemaPropertyComparator =>
    (before, after) => {
      const [old, now] = [before[field], after[field]]
      // Numeric bounds are floats, lengths are integers.
      const text = field === `${kind}imum` ? formatGoFloat : String
      if (typeof now !== 'number') return undefined
      if (typeof old !== 'number')
        return `${kind}imum constraint added when there was none previously : ${text(now)}`
      if (kind === 'max' ? now >= old : now <= old) return undefined
      return `${kind}imum ${kind === 'max' ? 'decreased' : 'increased'} : ${text(old)} -> ${text(now)}`
    }
  return Object.fromEntries(fields.map((field) => [field, createComparator(field)]))
}

function formatStringPropertyChange(label: string, before: Json | undefined, after: Json | undefined) {
  const [old, now] = [asStringOrEmpty(before), asStringOrEmpty(after)]
  return old === now ? undefined : `${label} : ${quoteLikeGo(old)} -> ${quoteLikeGo(now)}`
}

const formatHtmlEscapedJson = (value: Json): string => escapeHtmlInJson(toSortedJson(value))

function getEnumValues(schema: JsonObject): readonly string[] {
  return [...new Set(asListOrEmpty(schema['enum']).map(formatHtmlEscapedJson))].sort()
}

const descriptiveSchemaFields = new Set(['description', 'title', 'example', 'externalDocs'])

/** Ignores descriptions. */
function getOneOfAlternatives(schema: JsonObject): readonly string[] {
  return asListOrEmpty(schema['oneOf']).map((one) =>
    toSortedJson(
      Object.fromEntries(
        Object.entries(asObjectOrEmpty(one)).filter(([field]) => !descriptiveSchemaFields.has(field)),
      ),
    ),
  )
}

// Flattens a CRD's schema into a table of properties, as crdify does.
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
