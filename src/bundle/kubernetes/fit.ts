// Converts a value to a Kubernetes type as the API machinery does and records what doesn't fit: it drops unknown
// fields, treats null as absent and converts whole numbers to integer types.
import type { Json } from '../../go/json/json.ts'
import { goKind } from '../../go/decode/go-value.ts'
import { decodeBase64 } from '../../go/base64.ts'
import { dataOf } from '../manifest-document.ts'
import type { Value } from '../../go/tree.ts'
import type { Path } from '../bundle-places.ts'
import { canonicalQuantity, isQuantity } from './quantity.ts'
import { fieldsOf, resolveType, type WrittenType } from './schemas.ts'

export interface Misfit {
  readonly kind: 'unknown' | 'type' | 'missing'
  readonly path: Path
  /** For example `a whole number`; only for `type`. */
  readonly wanted: string
  readonly found: string
}

export interface Fit {
  /** Omits what doesn't fit. */
  readonly value: Json
  readonly misfits: readonly Misfit[]
}

/** More don't help a reader. */
const mostMisfits = 100
/** Deeper than any CRD schema; documents are untrusted. */
const maxDepth = 200
/** Aliases can expand without limit. */
const mostValues = 400_000

export function fitInto(type: WrittenType, value: Value): Fit {
  const fitter = new Fitter()
  return { value: fitter.fit(type, value, []) ?? null, misfits: fitter.misfits }
}

const scalars: Readonly<Record<string, { readonly words: string; fit(value: Value): Json | undefined }>> = {
  ':string': { words: 'a text', fit: textOf },
  ':date-time': {
    words: 'a time as RFC 3339 has it',
    fit: (value) =>
      value.kind === 'string' && (value.value === '' || isTime(value.value)) ? value.value : undefined,
  },
  ':byte': {
    words: 'base64',
    fit: (value) =>
      value.kind === 'string' && typeof decodeBase64(value.value) !== 'number' ? value.value : undefined,
  },
  ':boolean': { words: 'true or false', fit: (value) => (value.kind === 'bool' ? value.value : undefined) },
  ':int32': { words: 'a whole number of 32 bits', fit: (value) => whole(value, 2 ** 31) },
  ':int64': { words: 'a whole number', fit: (value) => whole(value, 2 ** 63) },
  ':integer': { words: 'a whole number', fit: (value) => whole(value, 2 ** 63) },
  ':double': { words: 'a number', fit: (value) => (value.kind === 'number' ? value.value : undefined) },
  ':number': { words: 'a number', fit: (value) => (value.kind === 'number' ? value.value : undefined) },
  ':quantity': {
    words: 'a quantity, such as 100m or 64Mi',
    fit: (value) => {
      const text = value.kind === 'number' ? value.text : textOf(value)
      return text !== undefined && isQuantity(text) ? canonicalQuantity(text) : undefined
    },
  },
  ':int-or-string': {
    words: 'a whole number or a text',
    fit: (value) => (value.kind === 'string' ? value.value : whole(value, 2 ** 31)),
  },
}

/** Null in a list becomes the type's zero value. */
const zeros: Readonly<Record<string, Json>> = {
  ...{
    ':string': '',
    ':boolean': false,
    ':int32': 0,
    ':int64': 0,
    ':integer': 0,
    ':double': 0,
    ':number': 0,
  },
}

/** Go omits these if 0 or false: they are `omitempty` and not pointers (k8s.io/api v0.36). */
const omittedZeros: ReadonlySet<string> = new Set(
  (
    'readOnly partition chapAuthDiscovery chapAuthSession sslEnabled hostPort containerPort initialDelaySeconds ' +
    'timeoutSeconds periodSeconds successThreshold failureThreshold stdin stdinOnce tty hostNetwork hostPID hostIPC ' +
    'minReadySeconds paused generation observedGeneration preserveUnknownFields deprecated priority exclusiveMaximum ' +
    'exclusiveMinimum uniqueItems nullable x-kubernetes-embedded-resource x-kubernetes-int-or-string'
  ).split(' '),
)
/** Pointers with one of those names; a ClusterServiceVersion's webhook has no definition. */
const pointers: ReadonlySet<string> = new Set([
  'core.v1.AzureDiskVolumeSource.readOnly',
  'core.v1.CSIVolumeSource.readOnly',
  'core.v1.PodSpec.priority',
  '.timeoutSeconds',
])

class Fitter {
  readonly misfits: Misfit[] = []
  private values = mostValues

  fit(written: WrittenType, value: Value, path: Path): Json | undefined {
    const schema = unionOf(written)
    if (schema) return this.union(schema, value, path)
    const type = resolveType(written)
    if (value.kind === 'null') return undefined
    if (path.length > maxDepth || this.values-- <= 0) return undefined
    if (typeof type === 'string') return this.scalar(type, value, path)
    if (isList(type)) return this.list(type[0], value, path)
    if (!('fields' in type)) return this.map(type.values, value, path)
    return this.struct(type.fields, value, path, typeof written === 'string' ? written : '')
  }

  private scalar(type: string, value: Value, path: Path): Json | undefined {
    if (type === ':any') return dataOf(value) ?? null
    if (type === ':object')
      return value.kind === 'map' ? dataOf(value) : this.mismatch('an object', value, path)
    const scalar = scalars[type]
    if (!scalar) return dataOf(value) ?? null
    const fitted = scalar.fit(value)
    return fitted === undefined ? this.mismatch(scalar.words, value, path) : fitted
  }

  private struct(
    written: Readonly<Record<string, WrittenType>>,
    value: Value,
    path: Path,
    definition: string,
  ): Json | undefined {
    if (value.kind !== 'map') return this.mismatch('an object', value, path)
    const fields = fieldsOf(written)
    const result: [string, Json][] = []
    const present = new Set<string>()
    for (const { key, value: inner } of value.entries) {
      const field = fields.get(key)
      if (!field) {
        this.report({ kind: 'unknown', path: [...path, key], wanted: '', found: '' })
        continue
      }
      if (inner.kind !== 'null') present.add(key)
      const fitted = this.fit(field.type, inner, [...path, key])
      const isZero = (fitted === 0 || fitted === false) && !field.isRequired
      const isOmitted = isZero && omittedZeros.has(key) && !pointers.has(`${definition}.${key}`)
      if (fitted !== undefined && !isOmitted) result.push([key, fitted])
    }
    for (const [key, { isRequired }] of fields)
      if (isRequired && !present.has(key))
        this.report({ kind: 'missing', path: [...path, key], wanted: '', found: '' })
    return Object.fromEntries(result)
  }

  private map(type: WrittenType, value: Value, path: Path): Json | undefined {
    if (value.kind !== 'map') return this.mismatch('an object', value, path)
    return Object.fromEntries(
      value.entries.map(({ key, value: inner }) => [
        key,
        this.fit(type, inner, [...path, key]) ?? zeroOf(type),
      ]),
    )
  }

  private list(type: WrittenType, value: Value, path: Path): Json | undefined {
    if (value.kind !== 'list') return this.mismatch('a list', value, path)
    return value.items.map((item, index) => this.fit(type, item, [...path, index]) ?? zeroOf(type))
  }

  /** The three JSON schema types with alternative shapes, which OpenAPI can't express. */
  private union(schema: Union, value: Value, path: Path): Json | undefined {
    if (value.kind === 'null') return undefined
    if (value.kind === 'map') return this.fit(schema.schema, value, path)
    if (value.kind === 'bool' && schema.also === 'bool') return value.value
    if (value.kind === 'list' && schema.also === 'schemas') return this.list(schema.schema, value, path)
    if (value.kind === 'list' && schema.also === 'texts') return this.list(':string', value, path)
    return this.mismatch('a schema', value, path)
  }

  private mismatch(wanted: string, value: Value, path: Path): undefined {
    this.report({ kind: 'type', path, wanted, found: shown(value) })
    return undefined
  }

  private report(misfit: Misfit): void {
    if (this.misfits.length < mostMisfits) this.misfits.push(misfit)
  }
}

interface Union {
  readonly schema: WrittenType
  readonly also: 'bool' | 'schemas' | 'texts'
}

function unionOf(type: WrittenType): Union | undefined {
  if (typeof type !== 'string') return undefined
  const [schema, of] = type.split('PropsOr')
  const also =
    of === 'Bool' ? 'bool' : of === 'Array' ? 'schemas' : of === 'StringArray' ? 'texts' : undefined
  return also && { schema: `${schema}Props`, also }
}

/** `in` isn't enough, because arrays have methods such as `values`. */
function isList(type: WrittenType): type is readonly [WrittenType] {
  return Array.isArray(type)
}

function zeroOf(type: WrittenType): Json {
  const resolved = resolveType(type)
  if (typeof resolved === 'string') return zeros[resolved] ?? null
  return !isList(resolved) && 'fields' in resolved ? {} : null
}

function textOf(value: Value): string | undefined {
  return value.kind === 'string' ? value.value : undefined
}

function whole(value: Value, limit: number): number | undefined {
  if (value.kind !== 'number' || !Number.isInteger(value.value)) return undefined
  return value.value >= -limit && value.value < limit ? value.value : undefined
}

function isTime(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    text.slice(5, 7) <= '12'
  )
}

function shown(value: Value): string {
  if (value.kind === 'map') return 'an object'
  if (value.kind === 'list') return 'a list'
  if (value.kind === 'string') return `the text ${JSON.stringify(value.value.slice(0, 100))}`
  return value.kind === 'number' ? `the number ${value.text}` : `a ${goKind(value)}`
}
