// Converts a value to a Kubernetes type like the API machinery: drops unknown fields, and treats null as absent.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getJsonTypeName } from '@catalog-bot/fbc/go/decode/go-type'
import { decodeBase64 } from '@catalog-bot/fbc/go/base64'
import type { ParsedValue } from '@catalog-bot/fbc/go/tree'
import { convertParsedValueToJson, type FieldPath } from '../manifest-document.ts'
import { parseSchemaFields, resolveSchemaType, type SchemaType } from './schemas.ts'

const quantityPattern =
  /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<part>\d*))?(?<suffix>[numkKMGTPE]i?|[eE][+-]?\d+)?$/

const quantityExponentByDecimalSuffix: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}

const binaryQuantitySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

interface ParsedQuantity {
  readonly sign: bigint
  /** In billionths, Kubernetes' precision. */
  readonly nano: bigint
  readonly kind: 'decimal' | 'binary' | 'exponent'
}

export interface SchemaMismatch {
  readonly kind: 'unknown' | 'type' | 'missing'
  readonly path: FieldPath
  /** For example `an integer`. Only for `type`. */
  readonly wanted: string
  readonly found: string
}

export interface SchemaCoercionResult {
  /** Without values that don't fit. */
  readonly value: Json
  readonly mismatches: readonly SchemaMismatch[]
}

/** A longer list doesn't help a reader. */
const maxSchemaMismatches = 100
/** Deeper than any CRD schema; documents are untrusted. */
const maxCoercionDepth = 200
/** Aliases can expand without limit. */
const maxCoercedValues = 400_000

export function coerceToSchema(type: SchemaType, value: ParsedValue): SchemaCoercionResult {
  const fitter = new SchemaCoercer()
  return { value: fitter.coerce(type, value, []) ?? null, mismatches: fitter.mismatches }
}

const scalarCoercionByType: Readonly<
  Record<string, { readonly description: string; fit(value: ParsedValue): Json | undefined }>
> = {
  ':string': { description: 'a string', fit: scalarToString },
  ':date-time': {
    description: 'an RFC 3339 timestamp',
    fit: (value) =>
      value.kind === 'string' && (value.value === '' || isRfc3339Time(value.value)) ? value.value : undefined,
  },
  ':byte': {
    description: 'base64',
    fit: (value) =>
      value.kind === 'string' && typeof decodeBase64(value.value) !== 'number' ? value.value : undefined,
  },
  ':boolean': { description: 'a boolean', fit: (value) => (value.kind === 'bool' ? value.value : undefined) },
  ':int32': { description: 'a 32-bit integer', fit: (value) => parseIntegerWithinLimit(value, 2 ** 31) },
  ':int64': { description: 'an integer', fit: (value) => parseIntegerWithinLimit(value, 2 ** 63) },
  ':integer': { description: 'an integer', fit: (value) => parseIntegerWithinLimit(value, 2 ** 63) },
  ':double': { description: 'a number', fit: (value) => (value.kind === 'number' ? value.value : undefined) },
  ':number': { description: 'a number', fit: (value) => (value.kind === 'number' ? value.value : undefined) },
  ':quantity': {
    description: 'a quantity, such as 100m or 64Mi',
    fit: (value) => {
      const text = value.kind === 'number' ? value.text : scalarToString(value)
      return text !== undefined && isQuantity(text) ? toCanonicalQuantity(text) : undefined
    },
  },
  ':int-or-string': {
    description: 'an integer or a string',
    fit: (value) => (value.kind === 'string' ? value.value : parseIntegerWithinLimit(value, 2 ** 31)),
  },
}

/** A null in a list becomes the type's zero value. */
const zeroValueByType: ReadonlyMap<string, Json> = new Map<string, Json>([
  [':string', ''],
  [':boolean', false],
  ...[':int32', ':int64', ':integer', ':double', ':number'].map((type) => [type, 0] as const),
])

/** Go omits these fields if they are 0 or false, because they are `omitempty` and not pointers (k8s.io/api v0.36). */
const goOmitEmptyFieldNames: ReadonlySet<string> = new Set(
  (
    'readOnly partition chapAuthDiscovery chapAuthSession sslEnabled hostPort containerPort initialDelaySeconds ' +
    'timeoutSeconds periodSeconds successThreshold failureThreshold stdin stdinOnce tty hostNetwork hostPID hostIPC ' +
    'minReadySeconds paused generation observedGeneration preserveUnknownFields deprecated priority exclusiveMaximum ' +
    'exclusiveMinimum uniqueItems nullable x-kubernetes-embedded-resource x-kubernetes-int-or-string'
  ).split(' '),
)
/** Fields with one of these names that are pointers. A ClusterServiceVersion's webhook has no definition. */
const goPointerFieldNames: ReadonlySet<string> = new Set([
  'core.v1.AzureDiskVolumeSource.readOnly',
  'core.v1.CSIVolumeSource.readOnly',
  'core.v1.PodSpec.priority',
  '.timeoutSeconds',
])

class SchemaCoercer {
  readonly mismatches: SchemaMismatch[] = []
  private remainingValues = maxCoercedValues

  coerce(written: SchemaType, value: ParsedValue, path: FieldPath): Json | undefined {
    const schema = parseSchemaPropsUnionType(written)
    if (schema) return this.union(schema, value, path)
    const type = resolveSchemaType(written)
    if (value.kind === 'null') return undefined
    if (path.length > maxCoercionDepth || this.remainingValues-- <= 0) return undefined
    if (typeof type === 'string') return this.scalar(type, value, path)
    if (isListType(type)) return this.list(type[0], value, path)
    if (!('fields' in type)) return this.map(type.values, value, path)
    return this.struct(type.fields, value, path, typeof written === 'string' ? written : '')
  }

  private scalar(type: string, value: ParsedValue, path: FieldPath): Json | undefined {
    if (type === ':any') return convertParsedValueToJson(value) ?? null
    if (type === ':object')
      return value.kind === 'map' ? convertParsedValueToJson(value) : this.mismatch('an object', value, path)
    const scalar = scalarCoercionByType[type]
    if (!scalar) return convertParsedValueToJson(value) ?? null
    const fitted = scalar.fit(value)
    return fitted === undefined ? this.mismatch(scalar.description, value, path) : fitted
  }

  private struct(
    written: Readonly<Record<string, SchemaType>>,
    value: ParsedValue,
    path: FieldPath,
    definition: string,
  ): Json | undefined {
    if (value.kind !== 'map') return this.mismatch('an object', value, path)
    const fields = parseSchemaFields(written)
    const result: [string, Json][] = []
    const present = new Set<string>()
    for (const { key, value: inner } of value.entries) {
      const field = fields.get(key)
      if (!field) {
        this.report({ kind: 'unknown', path: [...path, key], wanted: '', found: '' })
        continue
      }
      if (inner.kind !== 'null') present.add(key)
      const fitted = this.coerce(field.type, inner, [...path, key])
      const isZero = (fitted === 0 || fitted === false) && !field.isRequired
      const isOmitted =
        isZero && goOmitEmptyFieldNames.has(key) && !goPointerFieldNames.has(`${definition}.${key}`)
      if (fitted !== undefined && !isOmitted) result.push([key, fitted])
    }
    for (const [key, { isRequired }] of fields)
      if (isRequired && !present.has(key))
        this.report({ kind: 'missing', path: [...path, key], wanted: '', found: '' })
    return Object.fromEntries(result)
  }

  private map(type: SchemaType, value: ParsedValue, path: FieldPath): Json | undefined {
    if (value.kind !== 'map') return this.mismatch('an object', value, path)
    return Object.fromEntries(
      value.entries.map(({ key, value: inner }) => [
        key,
        this.coerce(type, inner, [...path, key]) ?? getGoZeroValue(type),
      ]),
    )
  }

  private list(type: SchemaType, value: ParsedValue, path: FieldPath): Json | undefined {
    if (value.kind !== 'list') return this.mismatch('a list', value, path)
    return value.items.map((item, index) => this.coerce(type, item, [...path, index]) ?? getGoZeroValue(type))
  }

  /** The three JSON schema types with alternative forms, which OpenAPI can't express. */
  private union(schema: SchemaPropsUnionType, value: ParsedValue, path: FieldPath): Json | undefined {
    if (value.kind === 'null') return undefined
    if (value.kind === 'map') return this.coerce(schema.schema, value, path)
    if (value.kind === 'bool' && schema.also === 'bool') return value.value
    if (value.kind === 'list' && schema.also === 'schemas') return this.list(schema.schema, value, path)
    if (value.kind === 'list' && schema.also === 'texts') return this.list(':string', value, path)
    return this.mismatch('a schema', value, path)
  }

  private mismatch(wanted: string, value: ParsedValue, path: FieldPath): undefined {
    this.report({ kind: 'type', path, wanted, found: describeParsedValue(value) })
    return undefined
  }

  private report(misfit: SchemaMismatch): void {
    if (this.mismatches.length < maxSchemaMismatches) this.mismatches.push(misfit)
  }
}

interface SchemaPropsUnionType {
  readonly schema: SchemaType
  readonly also: 'bool' | 'schemas' | 'texts'
}

function parseSchemaPropsUnionType(type: SchemaType): SchemaPropsUnionType | undefined {
  if (typeof type !== 'string') return undefined
  const [schema, of] = type.split('PropsOr')
  const also =
    of === 'Bool' ? 'bool' : of === 'Array' ? 'schemas' : of === 'StringArray' ? 'texts' : undefined
  return also && { schema: `${schema}Props`, also }
}

/** `in` isn't enough, because arrays have methods such as `values`. */
export function isListType(type: SchemaType): type is readonly [SchemaType] {
  return Array.isArray(type)
}

function getGoZeroValue(type: SchemaType): Json {
  const resolved = resolveSchemaType(type)
  if (typeof resolved === 'string') return zeroValueByType.get(resolved) ?? null
  return !isListType(resolved) && 'fields' in resolved ? {} : null
}

function scalarToString(value: ParsedValue): string | undefined {
  return value.kind === 'string' ? value.value : undefined
}

function parseIntegerWithinLimit(value: ParsedValue, limit: number): number | undefined {
  if (value.kind !== 'number' || !Number.isInteger(value.value)) return undefined
  return value.value >= -limit && value.value < limit ? value.value : undefined
}

function isRfc3339Time(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    text.slice(5, 7) <= '12'
  )
}

function describeParsedValue(value: ParsedValue): string {
  if (value.kind === 'map') return 'an object'
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'string') return `the string ${JSON.stringify(value.value.slice(0, 100))}`
  return value.kind === 'number' ? `the number ${value.text}` : `a ${getJsonTypeName(value)}`
}

export function isQuantity(text: string): boolean {
  return parseQuantity(text) !== undefined
}

/** Kubernetes' canonical form, for example `1` for `1000m`. Returns other strings unchanged. */
export function toCanonicalQuantity(text: string): string {
  const amount = parseQuantity(text)
  if (!amount) return text
  const { sign, nano, kind } = amount
  if (nano === 0n) return '0'
  const before = sign < 0n ? '-' : ''
  // Below one Ki or with a fraction, Kubernetes uses the decimal form.
  if (kind === 'binary' && nano % 1_000_000_000n === 0n && nano >= 1024n * 1_000_000_000n) {
    let value = nano / 1_000_000_000n
    let power = 0
    for (; value % 1024n === 0n && power < binaryQuantitySuffixes.length - 1; power++) value /= 1024n
    return `${before}${value}${binaryQuantitySuffixes[power]}`
  }
  let value = nano
  let exponent = -9
  for (; value % 1000n === 0n && exponent < 18; exponent += 3) value /= 1000n
  if (kind === 'exponent') return `${before}${value}${exponent === 0 ? '' : `e${exponent}`}`
  const suffix =
    Object.entries(quantityExponentByDecimalSuffix).find(([, power]) => power === exponent)?.[0] ?? ''
  return `${before}${value}${suffix}`
}

function parseQuantity(text: string): ParsedQuantity | undefined {
  const {
    sign = '',
    whole = '',
    part = '',
    suffix = '',
  } = quantityPattern.exec(text)?.groups ?? { suffix: '?' }
  if (suffix === '?' || (whole === '' && part === '')) return undefined
  // Longer than any quantity. The string is untrusted.
  if (text.length > 100) return undefined
  const isBinary = suffix.endsWith('i')
  const isExponent = /^[eE]./.test(suffix)
  if (isBinary && !binaryQuantitySuffixes.includes(suffix)) return undefined
  if (!isBinary && !isExponent && !Object.hasOwn(quantityExponentByDecimalSuffix, suffix)) return undefined
  const exponent = isExponent
    ? Number(suffix.slice(1))
    : isBinary
      ? 0
      : (quantityExponentByDecimalSuffix[suffix] ?? 0)
  if (Math.abs(exponent) > 1000) return undefined
  const factor = isBinary ? 1024n ** BigInt(binaryQuantitySuffixes.indexOf(suffix)) : 1n
  // Like Kubernetes, rounds up to billionths.
  const digits = BigInt(whole + part || '0') * factor
  const shift = exponent + 9 - part.length
  const ceiled = shift >= 0 ? digits * 10n ** BigInt(shift) : ceilDivide(digits, 10n ** BigInt(-shift))
  const maxNano = ((1n << 63n) - 1n) * 1_000_000_000n
  return {
    sign: sign === '-' ? -1n : 1n,
    nano: ceiled > maxNano ? maxNano : ceiled,
    kind: isBinary ? 'binary' : isExponent ? 'exponent' : 'decimal',
  }
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
