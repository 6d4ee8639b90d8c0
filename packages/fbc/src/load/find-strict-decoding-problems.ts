// Finds what opm silently accepts: unknown fields, duplicate keys, and scalars that YAML reads as another type.
import type { StrictDecodingProblem } from '../facts/catalog.ts'
import type { PositionLookup } from '../go/position-lookup.ts'
import { type MapValue, type ParsedValue, getStringByKey } from '../go/tree.ts'
import { detachStringFromParent } from '../go/utf8.ts'

/**
 * `any`: opm does not decode the value. `typed`: opm decodes many more fields than are listed and rejects invalid
 * values. A list has the shape of its items.
 */
export type KnownFieldShape = 'any' | 'typed' | { readonly [field: string]: KnownFieldShape }

const stringFieldShape: KnownFieldShape = {}
const propertyFieldShape: KnownFieldShape = { type: stringFieldShape, value: 'any' }

// The fields that opm decodes in the four OLM schemas. opm silently ignores all others.
export const fieldShapesByBlobSchema: Readonly<Record<string, KnownFieldShape>> = {
  'olm.package': {
    schema: stringFieldShape,
    name: stringFieldShape,
    defaultChannel: stringFieldShape,
    description: stringFieldShape,
    icon: { base64data: stringFieldShape, mediatype: stringFieldShape },
    properties: propertyFieldShape,
  },
  'olm.channel': {
    schema: stringFieldShape,
    package: stringFieldShape,
    name: stringFieldShape,
    entries: {
      name: stringFieldShape,
      replaces: stringFieldShape,
      skips: stringFieldShape,
      skipRange: stringFieldShape,
    },
    properties: propertyFieldShape,
  },
  'olm.bundle': {
    schema: stringFieldShape,
    package: stringFieldShape,
    name: stringFieldShape,
    image: stringFieldShape,
    properties: propertyFieldShape,
    relatedImages: { name: stringFieldShape, image: stringFieldShape },
  },
  'olm.deprecations': {
    schema: stringFieldShape,
    package: stringFieldShape,
    entries: { reference: { schema: stringFieldShape, name: stringFieldShape }, message: stringFieldShape },
  },
}

/** Property types whose `value` has a closed structure. */
export const valueShapesByPropertyType: Readonly<Record<string, KnownFieldShape>> = {
  'olm.package': { packageName: stringFieldShape, version: stringFieldShape, release: stringFieldShape },
  'olm.package.required': { packageName: stringFieldShape, versionRange: stringFieldShape },
  'olm.gvk': { group: stringFieldShape, version: stringFieldShape, kind: stringFieldShape },
  'olm.gvk.required': { group: stringFieldShape, version: stringFieldShape, kind: stringFieldShape },
  'olm.csv.metadata': 'typed',
  'olm.bundle.object': 'typed',
}

/** Deeper than any real catalog. Protects the stack from malicious documents. */
const maxStrictDecodingDepth = 100
/**
 * More than any real document needs, but aliases can expand a small document beyond this. Values past it aren't
 * checked.
 */
const maxStrictDecodingValues = 1_000_000

/** Returns at most `limit` leniencies. Avoids creating strings, which the trees of the fast reader create lazily. */
export function findStrictDecodingProblems(
  root: ParsedValue,
  positions: PositionLookup,
  limit: number,
): StrictDecodingProblem[] {
  if (root.kind !== 'map' || limit <= 0) return []
  const schema = getStringByKey(root, 'schema')
  const search = new StrictDecodingProblemFinder(root, schema, positions, limit)
  search.visit(
    root,
    (Object.hasOwn(fieldShapesByBlobSchema, schema) ? fieldShapesByBlobSchema[schema] : undefined) ?? 'any',
  )
  return search.found
}

type StrictDecodingProblemWithoutPosition<Kind = StrictDecodingProblem> = Kind extends StrictDecodingProblem
  ? Omit<Kind, 'schema' | 'package' | 'name' | 'mark' | 'path'>
  : never

class StrictDecodingProblemFinder {
  readonly found: StrictDecodingProblem[] = []
  private readonly root: MapValue
  private readonly schema: string
  private readonly positions: PositionLookup
  private readonly limit: number
  private left = maxStrictDecodingValues
  /** Cached, because there may be a million keys. */
  private names: Pick<StrictDecodingProblem, 'schema' | 'package' | 'name'> | undefined
  /** The path to the current value, formatted only when needed. */
  private readonly steps: (string | number)[] = []

  constructor(root: MapValue, schema: string, places: PositionLookup, limit: number) {
    this.root = root
    this.schema = schema
    this.positions = places
    this.limit = limit
  }

  visit(value: ParsedValue, shape: KnownFieldShape): void {
    if (this.left-- <= 0 || this.steps.length > maxStrictDecodingDepth) return
    const memo = value.kind === 'map' || value.kind === 'list' ? value.memo : undefined
    if (memo?.plain === shape) return
    const before = this.found.length
    this.inspect(value, shape)
    if (memo && this.found.length === before && this.left > 0) memo.plain = shape
  }

  private inspect(value: ParsedValue, shape: KnownFieldShape): void {
    switch (value.kind) {
      case 'map':
        return this.visitMap(value, shape)
      case 'list':
        for (let index = 0; index < value.items.length && this.left > 0; index++) {
          this.steps.push(index)
          this.visit(value.items[index] as ParsedValue, shape)
          this.steps.pop()
        }
        return
      case 'bool':
      case 'number': {
        if (shape !== 'any') return
        const written = this.positions.textFrom(value.start, value.end - value.start)
        if (isNonCanonicalScalar(value.value, written))
          this.report(value.start, {
            kind: 'scalar',
            text: detachStringFromParent(written),
            value: value.value,
          })
        return
      }
      case 'null':
      case 'string':
        return
    }
  }

  private visitMap(map: MapValue, shape: KnownFieldShape): void {
    for (const { key, start } of map.repeated ?? []) {
      if (this.left <= 0) return
      this.steps.push(key)
      this.report(start, { kind: 'repeated-key' })
      this.steps.pop()
    }
    for (const { key, keyStart, value } of map.entries) {
      if (this.left <= 0) return
      const below = getNestedFieldShape(map, shape, key)
      this.steps.push(key)
      if (below === undefined) this.report(keyStart, { kind: 'unknown-field' })
      else if (value.kind !== 'string') this.visit(value, below)
      this.steps.pop()
    }
  }

  private report(offset: number, leniency: StrictDecodingProblemWithoutPosition): void {
    const { root, schema, positions } = this
    this.names ??= {
      schema: detachStringFromParent(schema),
      package: detachStringFromParent(getStringByKey(root, 'package')),
      name: detachStringFromParent(getStringByKey(root, 'name')),
    }
    this.found.push({
      ...this.names,
      mark: positions.positionAt(offset),
      path: detachStringFromParent(formatFieldPath(this.steps)),
      ...leniency,
    } as StrictDecodingProblem)
    if (this.found.length >= this.limit) this.left = 0
  }
}

/** `entries[3].replace` */
function formatFieldPath(steps: readonly (string | number)[]): string {
  return steps
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
}

function getNestedFieldShape(map: MapValue, shape: KnownFieldShape, key: string) {
  if (typeof shape === 'string') return shape
  const below = getFieldShape(shape, key)
  if (below !== 'any') return below
  const type = getStringByKey(map, 'type')
  return Object.hasOwn(valueShapesByPropertyType, type) ? valueShapesByPropertyType[type] : 'any'
}

const canonicalNumberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9]|\.0)?$/

/**
 * A number not in its normal form (`4.10`, `0123`, `1e5`, `1_000`, `0x1F`, `9007199254740993`) or a boolean other than
 * `true` and `false` (`y`, `on`, `No`). Ignores values from aliases and tags, which are deliberate.
 */
function isNonCanonicalScalar(value: number | boolean, written: string): boolean {
  if (/^[*!&"'|>]/.test(written)) return false
  if (typeof value === 'boolean') return !/^(?:true|false)$/i.test(written)
  if (!canonicalNumberPattern.test(written)) return true
  return String(value) !== written && String(value) !== written.replace(/\.0$/, '')
}

/** Matches names case-insensitively, as Go does. */
export function getFieldShape(
  shape: Exclude<KnownFieldShape, string>,
  field: string,
): KnownFieldShape | undefined {
  if (Object.hasOwn(shape, field)) return shape[field]
  const folded = field.toLowerCase().replaceAll('ſ', 's')
  for (const [name, below] of Object.entries(shape)) if (name.toLowerCase() === folded) return below
  return undefined
}
