// Validates a value against a CRD's structural schema as an API server does. Ignores CEL rules and patterns that could
// take too long.
import type { Json } from '../../go/json/json.ts'
import { at, listOf, objectOf, textOf, type JsonObject } from '../fields.ts'
import { canonicalJson } from '../upgrade/canonical-json.ts'
import type { Path } from '../bundle-places.ts'

export interface SchemaProblem {
  readonly path: Path
  readonly problem: string
}

/** More don't help a reader. */
const mostProblems = 20
const maxDepth = 100
/** Alternatives can check the same value over and over. */
const mostSteps = 100_000

/** Ignores `apiVersion`, `kind` and `metadata`, which every object has. */
export function problemsOf(schema: Json | undefined, object: JsonObject): readonly SchemaProblem[] {
  const validator = new Validator()
  validator.visit(objectOf(schema), object, [], true)
  return validator.problems.slice(0, mostProblems)
}

const ofEveryObject = new Set(['apiVersion', 'kind', 'metadata'])

class Validator {
  problems: SchemaProblem[] = []
  private steps = 0

  visit(schema: JsonObject, value: Json, path: Path, isObject = false): void {
    if (path.length > maxDepth || this.steps++ > mostSteps || this.problems.length > mostProblems) return
    if (value === null) {
      if (schema['nullable'] !== true && schema['type'] !== undefined)
        this.report(path, 'is null, which the schema does not allow')
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

  private hasType(schema: JsonObject, value: Json, path: Path): boolean {
    const wanted = textOf(schema['type'])
    if (schema['x-kubernetes-int-or-string'] === true) {
      if (typeof value === 'string' || Number.isInteger(value)) return true
      this.report(path, `is ${kindOf(value)}, where the schema wants a whole number or a string`)
      return false
    }
    const kind = kindOf(value)
    if (wanted === '' || kind === wanted || (wanted === 'number' && kind === 'integer')) return true
    this.report(path, `is of type ${kind}, where the schema wants ${wanted}`)
    return false
  }

  private checkEnum(schema: JsonObject, value: Json, path: Path): void {
    const allowed = listOf(schema['enum'])
    if (allowed.length === 0) return
    const text = canonicalJson(value)
    if (!allowed.some((one) => canonicalJson(one) === text))
      this.report(path, `is ${shown(value)}, which is not one of ${allowed.map(shown).join(', ')}`)
  }

  private checkNumber(schema: JsonObject, value: number, path: Path): void {
    const { minimum, maximum, multipleOf } = schema
    const isExclusive = (which: string) => schema[which] === true
    if (
      typeof minimum === 'number' &&
      (value < minimum || (value === minimum && isExclusive('exclusiveMinimum')))
    )
      this.report(path, `is ${value}, less than the schema allows (${minimum})`)
    if (
      typeof maximum === 'number' &&
      (value > maximum || (value === maximum && isExclusive('exclusiveMaximum')))
    )
      this.report(path, `is ${value}, more than the schema allows (${maximum})`)
    if (typeof multipleOf === 'number' && multipleOf > 0 && !Number.isInteger(value / multipleOf))
      this.report(path, `is ${value}, no multiple of ${multipleOf}`)
  }

  private checkText(schema: JsonObject, value: string, path: Path): void {
    this.checkSize(schema, 'Length', 'letters', [...value].length, path)
    const pattern = textOf(schema['pattern'])
    const expression = pattern === '' ? undefined : tamePattern(pattern, value)
    if (expression && !expression.test(value)) this.report(path, `does not match the pattern ${pattern}`)
  }

  private checkList(schema: JsonObject, value: readonly Json[], path: Path): void {
    this.checkSize(schema, 'Items', 'items', value.length, path)
    const items = schema['items']
    if (typeof items === 'object' && items !== null && !Array.isArray(items))
      for (const [index, item] of value.entries()) this.visit(items as JsonObject, item, [...path, index])
    const type = textOf(schema['x-kubernetes-list-type'])
    if (type !== 'set' && type !== 'map') return
    const keys = listOf(schema['x-kubernetes-list-map-keys']).map(textOf)
    const defaults = at(items, 'properties')
    const seen = new Set<string>()
    for (const [index, item] of value.entries()) {
      const key =
        type === 'set'
          ? canonicalJson(item)
          : canonicalJson(keys.map((name) => at(item, name) ?? at(defaults, name, 'default') ?? null))
      if (seen.has(key)) this.report([...path, index], `is there twice, in a list that is a ${type}`)
      seen.add(key)
    }
  }

  private checkObject(schema: JsonObject, value: JsonObject, path: Path, isObject: boolean): void {
    this.checkSize(schema, 'Properties', 'fields', Object.keys(value).length, path)
    const properties = objectOf(schema['properties'])
    const additional = schema['additionalProperties']
    const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
    const isEmbedded = isObject || schema['x-kubernetes-embedded-resource'] === true
    for (const name of listOf(schema['required']).map(textOf))
      if (!Object.hasOwn(value, name) && at(properties, name, 'default') === undefined)
        this.report(path, `lacks "${name}", which the schema requires`)
    for (const [name, inner] of Object.entries(value)) {
      const at = [...path, name]
      if (isEmbedded && ofEveryObject.has(name)) continue
      if (Object.hasOwn(properties, name)) this.visit(objectOf(properties[name]), inner, at)
      else if (typeof additional === 'object' && additional !== null)
        this.visit(objectOf(additional), inner, at)
      else if (additional !== true && !keepsUnknown && textOf(schema['type']) === 'object')
        this.report(at, 'is a field that the schema does not have')
    }
  }

  private checkSize(schema: JsonObject, what: string, words: string, size: number, path: Path): void {
    const [min, max] = [schema[`min${what}`], schema[`max${what}`]]
    if (typeof min === 'number' && size < min)
      this.report(path, `has ${size} ${words}, fewer than the schema allows (${min})`)
    if (typeof max === 'number' && size > max)
      this.report(path, `has ${size} ${words}, more than the schema allows (${max})`)
  }

  private checkAlternatives(schema: JsonObject, value: Json, path: Path): void {
    for (const one of listOf(schema['allOf'])) this.visit(objectOf(one), value, path)
    const fits = (one: Json) => this.fits(objectOf(one), value, path)
    const any = listOf(schema['anyOf'])
    if (any.length > 0 && !any.some(fits)) this.report(path, 'fits none of the alternatives of the schema')
    const only = listOf(schema['oneOf'])
    const fitting = only.length > 0 ? only.filter(fits).length : 1
    if (fitting !== 1) this.report(path, `fits ${fitting} alternatives of the schema, where it must fit one`)
    const not = schema['not']
    if (not !== undefined && fits(not)) this.report(path, 'is what the schema rules out')
  }

  private fits(schema: JsonObject, value: Json, path: Path): boolean {
    const before = this.problems
    this.problems = []
    this.visit(schema, value, path)
    const fitted = this.problems.length === 0
    this.problems = before
    return fitted
  }

  private report(path: Path, problem: string): void {
    this.problems.push({ path, problem })
  }
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return value === null ? 'null' : typeof value
}

function shown(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

/** Characters; the accepted patterns are fast on texts up to this length. */
const longestMatched = 300

/** Undefined for patterns that differ between Go and JavaScript or could take exponential time. */
function tamePattern(pattern: string, value: string): RegExp | undefined {
  if (value.length > longestMatched || pattern.length > 1000) return undefined
  if (/\[:|\\[0-9pPAzQEkCaxuU]|\(\?(?!:)/.test(pattern)) return undefined
  const bare = pattern.replace(/\\./g, 'x').replace(/\[\^?\]?[^\]]*\]/g, 'x')
  if ((bare.match(/[*+]|\{\d+,\}/g) ?? []).length > 3 || isNested(bare)) return undefined
  // Go expands a group for each repetition.
  if ((bare.match(/\{[^}]*\d{3,}[^}]*\}/) ?? []).length > 0 && bare.includes('(')) return undefined
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}

/** Whether a repeated group contains a repetition or a choice. `bare` has no escapes and no classes. */
function isNested(bare: string): boolean {
  for (let text = bare; ;) {
    const group = /\((?:\?:)?(?<inner>[^()]*)\)(?<repeated>[*+?{])?/.exec(text)
    if (!group) return false
    const { inner = '', repeated } = group.groups ?? {}
    if (repeated !== undefined && repeated !== '?' && /[*+{|?]/.test(inner)) return true
    const kept = /[*+{]/.test(inner) ? 'x*' : 'x'
    const after = text.slice(group.index + group[0].length - (repeated === undefined ? 0 : 1))
    if (repeated === '?' && kept === 'x*') text = `${text.slice(0, group.index)}${kept}${after.slice(1)}`
    else text = `${text.slice(0, group.index)}${kept}${after}`
  }
}
