// Finds what opm silently accepts: unknown fields, duplicate keys, scalars that YAML reads as another type.
import type { Oddity } from '../facts/catalog.ts'
import type { Places } from '../../go/places.ts'
import type { MapValue, Value } from '../../go/tree.ts'
import { valueAt } from '../../go/tree.ts'
import { ownCopy } from '../../go/utf8.ts'
import { blobShapes, propertyShapes, shapeOf } from './known-fields.ts'
import type { Shape } from './known-fields.ts'

/** Deeper than any catalog; protects the stack from hostile documents. */
const mostLevels = 100
/** More than any real document, but aliases can expand a small text beyond this. The rest isn't checked. */
const mostValues = 1_000_000

/** Returns at most `limit` oddities. Avoids materializing text, which the fast reader's trees create lazily. */
export function findOddities(root: Value, places: Places, limit: number): Oddity[] {
  if (root.kind !== 'map' || limit <= 0) return []
  const schema = textOf(root, 'schema')
  const search = new Search(root, schema, places, limit)
  search.visit(root, (Object.hasOwn(blobShapes, schema) ? blobShapes[schema] : undefined) ?? 'any')
  return search.found
}

type Bare<Kind = Oddity> = Kind extends Oddity
  ? Omit<Kind, 'schema' | 'package' | 'name' | 'mark' | 'path'>
  : never

class Search {
  readonly found: Oddity[] = []
  private readonly root: MapValue
  private readonly schema: string
  private readonly places: Places
  private readonly limit: number
  private left = mostValues
  /** Cached, because there may be a million keys. */
  private names: Pick<Oddity, 'schema' | 'package' | 'name'> | undefined
  /** The path to the current value, formatted only when needed. */
  private readonly steps: (string | number)[] = []

  constructor(root: MapValue, schema: string, places: Places, limit: number) {
    this.root = root
    this.schema = schema
    this.places = places
    this.limit = limit
  }

  visit(value: Value, shape: Shape): void {
    if (this.left-- <= 0 || this.steps.length > mostLevels) return
    const memo = value.kind === 'map' || value.kind === 'list' ? value.memo : undefined
    if (memo?.plain === shape) return
    const before = this.found.length
    this.look(value, shape)
    if (memo && this.found.length === before && this.left > 0) memo.plain = shape
  }

  private look(value: Value, shape: Shape): void {
    switch (value.kind) {
      case 'map':
        return this.visitMap(value, shape)
      case 'list':
        for (let index = 0; index < value.items.length && this.left > 0; index++) {
          this.steps.push(index)
          this.visit(value.items[index] as Value, shape)
          this.steps.pop()
        }
        return
      case 'bool':
      case 'number': {
        if (shape !== 'any') return
        const written = this.places.textFrom(value.start, value.end - value.start)
        if (isSurprising(value.value, written))
          this.report(value.start, { kind: 'scalar', text: ownCopy(written), value: value.value })
        return
      }
      case 'null':
      case 'string':
        return
    }
  }

  private visitMap(map: MapValue, shape: Shape): void {
    for (const { key, start } of map.repeated ?? []) {
      if (this.left <= 0) return
      this.steps.push(key)
      this.report(start, { kind: 'repeated-key' })
      this.steps.pop()
    }
    for (const { key, keyStart, value } of map.entries) {
      if (this.left <= 0) return
      const below = belowOf(map, shape, key)
      this.steps.push(key)
      if (below === undefined) this.report(keyStart, { kind: 'unknown-field' })
      else if (value.kind !== 'string') this.visit(value, below)
      this.steps.pop()
    }
  }

  private report(offset: number, oddity: Bare): void {
    const { root, schema, places } = this
    this.names ??= {
      schema: ownCopy(schema),
      package: ownCopy(textOf(root, 'package')),
      name: ownCopy(textOf(root, 'name')),
    }
    this.found.push({
      ...this.names,
      mark: places.mark(offset),
      path: ownCopy(pathOf(this.steps)),
      ...oddity,
    } as Oddity)
    if (this.found.length >= this.limit) this.left = 0
  }
}

/** `entries[3].replace` */
function pathOf(steps: readonly (string | number)[]): string {
  return steps
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join('')
}

function belowOf(map: MapValue, shape: Shape, key: string): Shape | undefined {
  if (typeof shape === 'string') return shape
  const below = shapeOf(shape, key)
  if (below !== 'any') return below
  const type = textOf(map, 'type')
  return Object.hasOwn(propertyShapes, type) ? propertyShapes[type] : 'any'
}

function textOf(map: MapValue, field: string): string {
  const value = valueAt(map, field)
  return value?.kind === 'string' ? value.value : ''
}

const plainNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9]|\.0)?$/

/**
 * A number not in its normal form (`4.10`, `0123`, `1e5`, `1_000`, `0x1F`, `9007199254740993`) or a boolean other than
 * `true` and `false` (`y`, `on`, `No`). Ignores values from aliases and tags, which are deliberate.
 */
function isSurprising(value: number | boolean, written: string): boolean {
  if (/^[*!&"'|>]/.test(written)) return false
  if (typeof value === 'boolean') return !/^(?:true|false)$/i.test(written)
  if (!plainNumber.test(written)) return true
  return String(value) !== written && String(value) !== written.replace(/\.0$/, '')
}
