// Validates a value against a CRD's structural schema like an API server, except CEL rules and slow patterns.
import { type Json, toSortedJson } from '@catalog-bot/fbc/go/json/json'
import {
  getJsonFieldAtPath,
  asListOrEmpty,
  asObjectOrEmpty,
  asStringOrEmpty,
  type JsonObject,
} from '../fields.ts'
import type { FieldPath } from '../manifest-document.ts'

/** A longer list doesn't help a reader. */
const maxSchemaProblems = 20
const maxSchemaDepth = 100
/** Limits work, because alternatives can check the same value repeatedly. */
const maxSchemaValidationSteps = 100_000

/** Sentences about the fields. Ignores `apiVersion`, `kind` and `metadata`, because every object has them. */
export function findSchemaProblems(schema: Json | undefined, object: JsonObject): readonly string[] {
  const validator = new SchemaValidator()
  validator.visit(asObjectOrEmpty(schema), object, [], true)
  return validator.problems.slice(0, maxSchemaProblems)
}

const commonKubernetesObjectFields = new Set(['apiVersion', 'kind', 'metadata'])

class SchemaValidator {
  problems: string[] = []
  private steps = 0

  visit(schema: JsonObject, value: Json, path: FieldPath, isObject = false): void {
    if (
      path.length > maxSchemaDepth ||
      this.steps++ > maxSchemaValidationSteps ||
      this.problems.length > maxSchemaProblems
    )
      return
    if (value === null) {
      if (schema['nullable'] !== true && schema['type'] !== undefined)
        this.report(path, `is null, but the schema does not allow null`)
      return
    }
    if (!this.hasType(schema, value, path)) return
    this.checkEnum(schema, value, path)
    if (typeof value === 'number') this.checkNumber(schema, value, path)
    else if (typeof value === 'string') this.checkText(schema, value, path)
    else if (Array.isArray(value)) this.checkList(schema, value, path)
    else if (typeof value === 'object') this.checkObject(schema, value as JsonObject, path, isObject)
    this.checkAlternatives(schema, value, path)
  }

  private hasType(schema: JsonObject, value: Json, path: FieldPath): boolean {
    const expected = asStringOrEmpty(schema['type'])
    if (schema['x-kubernetes-int-or-string'] === true) {
      if (typeof value === 'string' || Number.isInteger(value)) return true
      this.report(
        path,
        `is of type ${getJsonSchemaType(value)}, but the schema expects an integer or a string`,
      )
      return false
    }
    const kind = getJsonSchemaType(value)
    if (expected === '' || kind === expected || (expected === 'number' && kind === 'integer')) return true
    this.report(path, `is of type ${kind}, but the schema expects ${expected}`)
    return false
  }

  private checkEnum(schema: JsonObject, value: Json, path: FieldPath): void {
    const allowed = asListOrEmpty(schema['enum'])
    if (allowed.length === 0) return
    const text = toSortedJson(value)
    if (!allowed.some((one) => toSortedJson(one) === text))
      this.report(
        path,
        `is ${formatTruncatedJson(value)}, which is not one of ${allowed.map(formatTruncatedJson).join(', ')}`,
      )
  }

  private checkNumber(schema: JsonObject, value: number, path: FieldPath): void {
    const { minimum, maximum, multipleOf } = schema
    const isExclusive = (which: string) => schema[which] === true
    if (
      typeof minimum === 'number' &&
      (value < minimum || (value === minimum && isExclusive('exclusiveMinimum')))
    )
      this.report(path, `is ${value}, which is too small (schema limit: ${minimum})`)
    if (
      typeof maximum === 'number' &&
      (value > maximum || (value === maximum && isExclusive('exclusiveMaximum')))
    )
      this.report(path, `is ${value}, which is too large (schema limit: ${maximum})`)
    if (typeof multipleOf === 'number' && multipleOf > 0 && !Number.isInteger(value / multipleOf))
      this.report(path, `is ${value}, which is not a multiple of ${multipleOf}`)
  }

  private checkText(schema: JsonObject, value: string, path: FieldPath): void {
    this.checkSize(schema, 'Length', 'characters', [...value].length, path)
    const pattern = asStringOrEmpty(schema['pattern'])
    const expression = pattern === '' ? undefined : compileSafePattern(pattern, value)
    if (expression && !expression.test(value)) this.report(path, `does not match the pattern ${pattern}`)
  }

  private checkList(schema: JsonObject, value: readonly Json[], path: FieldPath): void {
    this.checkSize(schema, 'Items', 'items', value.length, path)
    const items = schema['items']
    if (typeof items === 'object' && items !== null && !Array.isArray(items))
      for (const [index, item] of value.entries()) this.visit(items as JsonObject, item, [...path, index])
    const type = asStringOrEmpty(schema['x-kubernetes-list-type'])
    if (type !== 'set' && type !== 'map') return
    const keys = asListOrEmpty(schema['x-kubernetes-list-map-keys']).map(asStringOrEmpty)
    const defaults = getJsonFieldAtPath(items, 'properties')
    const seen = new Set<string>()
    for (const [index, item] of value.entries()) {
      const key =
        type === 'set'
          ? toSortedJson(item)
          : toSortedJson(
              keys.map(
                (name) =>
                  getJsonFieldAtPath(item, name) ?? getJsonFieldAtPath(defaults, name, 'default') ?? null,
              ),
            )
      if (seen.has(key))
        this.report(
          [...path, index],
          `is listed twice, but a list of type ${type} must not contain duplicates`,
        )
      seen.add(key)
    }
  }

  private checkObject(schema: JsonObject, value: JsonObject, path: FieldPath, isObject: boolean): void {
    this.checkSize(schema, 'Properties', 'fields', Object.keys(value).length, path)
    const properties = asObjectOrEmpty(schema['properties'])
    const additional = schema['additionalProperties']
    const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
    const isEmbedded = isObject || schema['x-kubernetes-embedded-resource'] === true
    for (const name of asListOrEmpty(schema['required']).map(asStringOrEmpty))
      if (!Object.hasOwn(value, name) && getJsonFieldAtPath(properties, name, 'default') === undefined)
        this.report(path, `does not set "${name}", which the schema requires`)
    for (const [name, inner] of Object.entries(value)) {
      const at = [...path, name]
      if (isEmbedded && commonKubernetesObjectFields.has(name)) continue
      if (Object.hasOwn(properties, name)) this.visit(asObjectOrEmpty(properties[name]), inner, at)
      else if (typeof additional === 'object' && additional !== null)
        this.visit(asObjectOrEmpty(additional), inner, at)
      else if (additional !== true && !keepsUnknown && asStringOrEmpty(schema['type']) === 'object')
        this.report(at, `is not defined in the schema`)
    }
  }

  private checkSize(schema: JsonObject, keywordSuffix: string, unit: string, size: number, path: FieldPath) {
    const [min, max] = [schema[`min${keywordSuffix}`], schema[`max${keywordSuffix}`]]
    if (typeof min === 'number' && size < min)
      this.report(path, `has ${size} ${unit}, but the schema requires at least ${min}`)
    if (typeof max === 'number' && size > max)
      this.report(path, `has ${size} ${unit}, but the schema allows at most ${max}`)
  }

  private checkAlternatives(schema: JsonObject, value: Json, path: FieldPath): void {
    for (const one of asListOrEmpty(schema['allOf'])) this.visit(asObjectOrEmpty(one), value, path)
    const fits = (one: Json) => this.fits(asObjectOrEmpty(one), value, path)
    const any = asListOrEmpty(schema['anyOf'])
    if (any.length > 0 && !any.some(fits))
      this.report(path, `does not match any of the schema alternatives (anyOf)`)
    const only = asListOrEmpty(schema['oneOf'])
    const fitting = only.length > 0 ? only.filter(fits).length : 1
    if (fitting !== 1)
      this.report(path, `matches ${fitting} schema alternatives instead of exactly one (oneOf)`)
    const not = schema['not']
    if (not !== undefined && fits(not)) this.report(path, `matches a schema that it must not match (not)`)
  }

  private fits(schema: JsonObject, value: Json, path: FieldPath): boolean {
    const before = this.problems
    this.problems = []
    this.visit(schema, value, path)
    const fitted = this.problems.length === 0
    this.problems = before
    return fitted
  }

  private report(path: FieldPath, problem: string): void {
    this.problems.push(`${formatFieldPath(path) || 'the object'} ${problem}`)
  }
}

function getJsonSchemaType(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return value === null ? 'null' : typeof value
}

function formatTruncatedJson(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

/** In characters. The accepted patterns are fast on strings up to this length. */
const maxPatternInputLength = 300

/** Undefined for patterns that differ between Go and JavaScript or could take exponential time. */
function compileSafePattern(pattern: string, value: string): RegExp | undefined {
  if (value.length > maxPatternInputLength || pattern.length > 1000) return undefined
  if (/\[:|\\[0-9pPAzQEkCaxuU]|\(\?(?!:)/.test(pattern)) return undefined
  const bare = pattern.replace(/\\./g, 'x').replace(/\[\^?\]?[^\]]*\]/g, 'x')
  if ((bare.match(/[*+]|\{\d+,\}/g) ?? []).length > 3 || hasNestedQuantifiers(bare)) return undefined
  // Go expands a group for each repetition.
  if ((bare.match(/\{[^}]*\d{3,}[^}]*\}/) ?? []).length > 0 && bare.includes('(')) return undefined
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}

/** Whether a repeated group contains a repetition or an alternative. `bare` has no escapes and no classes. */
function hasNestedQuantifiers(bare: string): boolean {
  for (let text = bare; ;) {
    const group = /\((?:\?:)?(?<inner>[^()]*)\)(?<repeated>[*+?{])?/.exec(text)
    if (!group) return false
    const { inner = '', repeated } = group.groups ?? {}
    if (repeated !== undefined && repeated !== '?' && /[*+{|?]/.test(inner)) return true
    const simplified = /[*+{]/.test(inner) ? 'x*' : 'x'
    const after = text.slice(group.index + group[0].length - (repeated === undefined ? 0 : 1))
    if (repeated === '?' && simplified === 'x*')
      text = `${text.slice(0, group.index)}${simplified}${after.slice(1)}`
    else text = `${text.slice(0, group.index)}${simplified}${after}`
  }
}

/** For example `spec.versions[0].name`. */
export function formatFieldPath(path: FieldPath): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}
