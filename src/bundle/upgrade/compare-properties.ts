// crdify's comparisons of one schema property as OLM v1 configures them: descriptions can change and enums can grow;
// everything else breaks compatibility.
import { goFloat } from '../../go/number.ts'
import type { Json } from '../../go/json/json.ts'
import { quote } from '../../go/text.ts'
import { listOf, objectOf, textOf, type JsonObject } from '../fields.ts'
import { canonicalJson } from './canonical-json.ts'

export interface PropertyProblem {
  /** crdify's name. */
  readonly name: string
  readonly message: string
  /** Distinguishes problems with the same message. */
  readonly detail?: string
}

type Comparison = (before: JsonObject, after: JsonObject) => string | undefined

const table: Readonly<Record<string, Comparison>> = {
  default: ({ default: before }, { default: after }) => {
    if (before === undefined && after !== undefined)
      return `default added when there was none previously : ${quote(goText(after))}`
    if (before !== undefined && after === undefined) return `default value removed : ${quote(goText(before))}`
    if (before === undefined || after === undefined) return undefined
    const [old, now] = [goText(before), goText(after)]
    return old === now ? undefined : `default value changed : ${quote(old)} -> ${quote(now)}`
  },
  enum: (before, after) => {
    const [old, now] = [enumOf(before), enumOf(after)]
    if (old.length === 0 && now.length > 0)
      return `enum constraint added when there was none previously : [${now.join(' ')}]`
    const removed = old.filter((value) => !now.includes(value))
    return removed.length > 0 ? `allowed enum values removed : [${removed.join(' ')}]` : undefined
  },
  ...limits('max', ['maximum', 'maxItems', 'maxLength', 'maxProperties']),
  ...limits('min', ['minimum', 'minItems', 'minLength', 'minProperties']),
  required: (before, after) => {
    const old = listOf(before['required'])
    const added = listOf(after['required']).filter((name) => !old.includes(name))
    return added.length > 0
      ? `new required fields: [${[...new Set(added.map(textOf))].sort().join(' ')}]`
      : undefined
  },
  type: (before, after) => changedText('type changed', before['type'], after['type']),
  pattern: ({ pattern: before }, { pattern: after }) => {
    const [old, now] = [textOf(before), textOf(after)]
    const what = old === '' ? 'pattern added' : now === '' ? 'pattern removed' : 'pattern changed'
    return changedText(what, old, now)
  },
  nullable: (before, after) => {
    const [old, now] = [before['nullable'] === true, after['nullable'] === true]
    return old === now ? undefined : `nullable ${now ? 'added' : 'removed'} : ${old} -> ${now}`
  },
  oneOf: (before, after) => {
    const [old, now] = [alternativesOf(before), alternativesOf(after)]
    if (old.length === 0 && now.length > 0) return `oneOf constraint added when there was none previously`
    if (old.some((one) => !now.includes(one))) return 'allowed oneOf schemas removed'
    return now.some((one) => !old.includes(one)) ? 'allowed oneOf schemas added' : undefined
  },
}

const handled = new Set([...Object.keys(table), 'description'])

/** Unknown changes count as breaking. */
export function compareProperties(before: JsonObject, after: JsonObject): readonly PropertyProblem[] {
  const problems = Object.entries(table).flatMap(([name, compare]): PropertyProblem[] => {
    const message = compare(before, after)
    if (message === undefined) return []
    const detail = name === 'oneOf' ? [alternativesOf(before), alternativesOf(after)] : undefined
    return [{ name, message, ...(detail && { detail: canonicalJson(detail) }) }]
  })
  const [old, now] = [otherFields(before), otherFields(after)]
  const changed = [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((field) => canonicalJson(old[field] ?? null) !== canonicalJson(now[field] ?? null))
    .sort()
  if (changed.length > 0)
    problems.push({
      name: 'unhandled',
      message: `unhandled changes found (${changed.join(', ')})`,
      detail: canonicalJson([old, now]),
    })
  return problems
}

function otherFields(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).filter(([field, value]) => !handled.has(field) && !isNothing(field, value)),
  )
}

/** Flags whose absence means false; for others, Go distinguishes false from absent. */
const flags = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'uniqueItems',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
])

function isNothing(field: string, value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === null || value === '' || (value === false && flags.has(field))
}

function limits(kind: 'max' | 'min', fields: readonly string[]): Readonly<Record<string, Comparison>> {
  const compare =
    (field: string): Comparison =>
    (before, after) => {
      const [old, now] = [before[field], after[field]]
      // Numeric bounds are floats, lengths are integers.
      const text = field === `${kind}imum` ? goFloat : String
      if (typeof now !== 'number') return undefined
      if (typeof old !== 'number')
        return `${kind}imum constraint added when there was none previously : ${text(now)}`
      if (kind === 'max' ? now >= old : now <= old) return undefined
      return `${kind}imum ${kind === 'max' ? 'decreased' : 'increased'} : ${text(old)} -> ${text(now)}`
    }
  return Object.fromEntries(fields.map((field) => [field, compare(field)]))
}

function changedText(what: string, before: Json | undefined, after: Json | undefined): string | undefined {
  const [old, now] = [textOf(before), textOf(after)]
  return old === now ? undefined : `${what} : ${quote(old)} -> ${quote(now)}`
}

function goText(value: Json): string {
  return canonicalJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function enumOf(schema: JsonObject): readonly string[] {
  return [...new Set(listOf(schema['enum']).map(goText))].sort()
}

const prose = new Set(['description', 'title', 'example', 'externalDocs'])

/** Ignores descriptions. */
function alternativesOf(schema: JsonObject): readonly string[] {
  return listOf(schema['oneOf']).map((one) =>
    canonicalJson(Object.fromEntries(Object.entries(objectOf(one)).filter(([field]) => !prose.has(field)))),
  )
}
